/** One body to one verdict: status, answer, and what metrics and the log say about it. Counts and writes nothing itself. */
import type { GiveRelayAccess } from "../../contract/relay-access.ts";
import type { ClusterFacts, injectPod, Randomness } from "../../injection/inject.ts";
import type { Outcome } from "../../injection/outcome.ts";
import { allowedText, reviewText } from "../../injection/review.ts";
import type { RawObject } from "../../kubernetes/raw-json.ts";
import type { ClusterConfig } from "../../policy/cluster-config.ts";
import type { Problem } from "../../policy/problem.ts";
import { type Entry, type MalformedReason, NOT_A_POD_CREATION } from "../admission-outcome.ts";
import { type ReviewRequest, readReview } from "./review-request.ts";

/** Annotations of a namespace as far as they are known; empty when they are not. `characters`: of the review that waits. */
export type NamespaceAnnotations = (name: string, characters: number) => Promise<Readonly<Record<string, unknown>>>;

/** Writes Events about mistakes in the settings of an object that is not injected. Never throws and never waits. */
export type ReportSettings = (object: RawObject, namespace: string, problems: readonly Problem[]) => void;

export type AdmissionPorts = {
  readonly namespaceAnnotations: NamespaceAnnotations;
  readonly randomness: Randomness;
  readonly inject: typeof injectPod;
  /** What a Pod gets to reach the relay; without it none does. */
  readonly giveRelayAccess?: GiveRelayAccess | undefined;
  /** Whether nothing could be learnt of the namespace; asked for after the annotations. */
  readonly namespaceIsUnknown?: (namespace: string) => boolean;
  /** Facts of this moment, asked for after the annotations; without it those of the rules are used. */
  readonly factsOf?: (namespace: string) => ClusterFacts;
  /** Of reviews at /settings. */
  readonly reportSettings?: ReportSettings;
  /** Hears of every outcome that is no rehearsal. Never throws and never waits. */
  readonly tell?: (pod: object, namespace: string, outcome: Outcome) => void;
};

export type AdmissionRules = {
  readonly optIn: "label" | "all";
  readonly config: ClusterConfig;
  readonly facts: ClusterFacts;
};

export type Verdict = {
  readonly status: 200 | 400 | 413 | 415 | 500;
  /** JSON when the status is 200, else one sentence. */
  readonly body: string;
  readonly entry: Entry;
  /** Codes of what the person wrote wrong. */
  readonly problems: readonly string[];
  readonly uid: string;
  readonly namespace: string;
  readonly pod: string;
  /** Only for the log. */
  readonly fault: unknown;
};

/** Never rejects. Our own failure is a 500 and nothing else, so that the failure policy decides about the Pod. */
export async function admit(text: string, rules: AdmissionRules, ports: AdmissionPorts): Promise<Verdict> {
  const read = readReview(text);
  if (read.kind === "malformed") return malformedVerdict(read.reason, read.message);
  const request = read.request;
  try {
    if (request.pod === undefined) return passedVerdict(request);
    const namespaceAnnotations = await ports.namespaceAnnotations(request.namespace, text.length);
    const { pod, namespace } = request;
    // Anyone can send a review. Limits and fair shares go by namespace, so none of a made-up one is signed.
    const giveRelayAccess = ports.namespaceIsUnknown?.(namespace) === true ? undefined : ports.giveRelayAccess;
    const question = { pod, namespace, optIn: rules.optIn, namespaceAnnotations, overrides: [], giveRelayAccess };
    const facts = ports.factsOf?.(namespace) ?? rules.facts;
    const outcome = ports.inject(question, rules.config, facts, ports.randomness);
    if (!request.dryRun) ports.tell?.(pod, namespace, outcome);
    return {
      ...verdictBase(request),
      status: 200,
      body: reviewText(request.uid, outcome),
      entry: entryOf(outcome, request.dryRun),
      problems: outcome.explanation.problems.map((problem) => problem.code),
    };
  } catch (fault) {
    return { ...verdictBase(request), ...faultVerdict(fault), uid: request.uid };
  }
}

export function malformedVerdict(reason: MalformedReason, message: string, status: Verdict["status"] = 400): Verdict {
  const entry: Entry = { outcome: "malformed", reason, mode: "none", dryRun: false };
  return { ...NO_POD, status, body: `${message}\n`, entry };
}

export function tooLargeVerdict(limitBytes: number): Verdict {
  const entry: Entry = { outcome: "too_large", reason: "none", mode: "none", dryRun: false };
  const body = `The body is larger than ${limitBytes} bytes, the most this server reads.\n`;
  return { ...NO_POD, status: 413, body, entry };
}

export function faultVerdict(fault: unknown): Verdict {
  const entry: Entry = { outcome: "fault", reason: "none", mode: "none", dryRun: false };
  return { ...NO_POD, status: 500, body: "This server failed; its log says why.\n", entry, fault };
}

const NO_POD = { uid: "", namespace: "", pod: "", problems: [], fault: undefined } as const;

function verdictBase(request: ReviewRequest): Omit<Verdict, "status" | "body" | "entry"> {
  return { ...NO_POD, uid: request.uid, namespace: request.namespace, pod: request.podName };
}

function passedVerdict(request: ReviewRequest): Verdict {
  const entry: Entry = { outcome: "skipped", reason: NOT_A_POD_CREATION, mode: "none", dryRun: request.dryRun };
  return { ...verdictBase(request), status: 200, body: allowedText(request.uid, []), entry };
}

function entryOf(outcome: Outcome, dryRun: boolean): Entry {
  if (outcome.kind === "patched") return { outcome: "injected", reason: "none", mode: outcome.mode, dryRun };
  if (outcome.kind === "refused") return { outcome: "refused", reason: "none", mode: "none", dryRun };
  return { outcome: "skipped", reason: outcome.reason, mode: "none", dryRun };
}
