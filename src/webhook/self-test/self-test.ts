/**
 * Proves the whole way of an injection: the API server, its selectors, the certificate, the webhook, the patch.
 * A dry-run Pod that opted in must come back injected, and one that opted out as it was. If wanted, a Pod is then
 * started: its manager must be pulled and run.
 */
import type { SendRequest } from "../../api-server/api-request.ts";
import { annotationsOf } from "../../kubernetes/pod.ts";
import { isRawObject, objectAt, objectsAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { STATUS_ANNOTATION } from "../../policy/fields.ts";
import { quote, quoteUpTo } from "../../policy/quote.ts";
import { MANAGER, PROBE, type ProbeWish, probePod, startablePod, type Wish } from "./probe-pods.ts";

type SelfTestPorts = {
  readonly request: SendRequest;
  readonly sleep: (ms: number) => Promise<void>;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  readonly say: (sentence: string) => void;
};

type Expected = ProbeWish & {
  /** For both parts together. */
  readonly waitMs: number;
  readonly startsPod: boolean;
};

/** Longer than the longest time an API server waits for a webhook. */
const ANSWER_LIMIT_MS = 35_000;
const PAUSE_MS = 1_000;

/** Each new reason is said once. */
export async function selfTest(expected: Expected, ports: SelfTestPorts): Promise<boolean> {
  const endMs = ports.nowMs() + expected.waitMs;
  const isInjecting = await tryUntil(endMs, ports, () => whatIsWrong(expected, ports.request));
  if (!isInjecting || !expected.startsPod) return isInjecting;
  const started = startedPodIn(expected.namespace, ports.request);
  try {
    const pod = startablePod(expected, STARTED_POD);
    // One that an earlier test left takes a moment to go.
    const isThere = await tryUntil(endMs, ports, async () => {
      await started.remove();
      return started.create(pod);
    });
    return isThere && (await tryUntil(endMs, ports, started.whatIsWrong));
  } finally {
    await started.remove().catch((error) => ports.say(notAsked(error)));
  }
}

/** @param look answers why not, or nothing once all is right */
async function tryUntil(endMs: number, ports: SelfTestPorts, look: () => Promise<string>): Promise<boolean> {
  let said = "";
  for (;;) {
    const why = await look().catch(notAsked);
    if (why === "") return true;
    if (why !== said) ports.say(why);
    said = why;
    if (ports.nowMs() + PAUSE_MS > endMs) return false;
    await ports.sleep(PAUSE_MS);
  }
}

function notAsked(error: unknown): string {
  return `The API server cannot be asked: ${error instanceof Error ? error.message : String(error)}`;
}

/** Empty when everything is right. */
async function whatIsWrong(expected: Expected, request: SendRequest): Promise<string> {
  const optedIn = await create(expected, "enabled", request);
  if (optedIn.kind === "failed") return optedIn.why;
  if (!optedIn.injected) return NOT_INJECTED;
  const optedOut = await create(expected, "disabled", request);
  if (optedOut.kind === "failed") return optedOut.why;
  return optedOut.injected ? INJECTED_ANYWAY : "";
}

const NOT_INJECTED =
  "A Pod with the label lastcall.dev/inject=enabled came back without injection: the API server does not ask the webhook, or gets no answer it trusts.";
const INJECTED_ANYWAY = "A Pod with the label lastcall.dev/inject=disabled came back injected.";

type Created =
  | { readonly kind: "created"; readonly injected: boolean }
  | { readonly kind: "failed"; readonly why: string };

async function create(wanted: ProbeWish, wish: Wish, request: SendRequest): Promise<Created> {
  const { namespace } = wanted;
  const path = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
  const body = JSON.stringify(probePod(wanted, wish));
  const answer = await request({ method: "POST", path, body, limitMs: ANSWER_LIMIT_MS });
  const object: unknown = JSON.parse(answer.text);
  if (!isRawObject(object)) throw new Error("its answer is no object");
  if (answer.status === 201)
    return { kind: "created", injected: textAt(annotationsOf(object), STATUS_ANNOTATION) !== undefined };
  const message = refusalMessage(object);
  return {
    kind: "failed",
    why: `The API server refuses a Pod in namespace ${namespace} (${answer.status}): ${message}`,
  };
}

/** The Pod's name is always the same, so that the rights to read and delete it can name it. */
export const STARTED_POD = "lastcall-self-test";

const CALL_LIMIT_MS = 35_000;

type StartedPod = {
  readonly create: (pod: object) => Promise<string>;
  /** Empty once the manager and the probe have run. */
  readonly whatIsWrong: () => Promise<string>;
  readonly remove: () => Promise<void>;
};

export function startedPodIn(namespace: string, request: SendRequest): StartedPod {
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const path = `${pods}/${STARTED_POD}`;
  return {
    create: async (pod) => {
      const answer = await request({ method: "POST", path: pods, body: JSON.stringify(pod), limitMs: CALL_LIMIT_MS });
      if (answer.status === 201) return "";
      const message = refusalMessage(parsed(answer.text));
      return `The API server refuses Pod ${STARTED_POD} in namespace ${namespace} (${answer.status}): ${message}`;
    },
    whatIsWrong: async () => {
      const answer = await request({ method: "GET", path, limitMs: CALL_LIMIT_MS });
      const why = answer.status === 200 ? whyNotStarted(parsed(answer.text)) : `cannot be read (${answer.status})`;
      return why === "" ? "" : `Pod ${STARTED_POD} in namespace ${namespace} ${why}`;
    },
    remove: async () => {
      await request({ method: "DELETE", path: `${path}?gracePeriodSeconds=0`, limitMs: CALL_LIMIT_MS });
    },
  };
}

function parsed(text: string): RawObject {
  const value: unknown = JSON.parse(text);
  if (!isRawObject(value)) throw new Error("its answer is no object");
  return value;
}

/** Completes the sentence "Pod … …"; empty when both containers have run. */
function whyNotStarted(pod: RawObject): string {
  const status = objectAt(pod, "status");
  const all = [...objectsAt(status, "initContainerStatuses"), ...objectsAt(status, "containerStatuses")];
  const unscheduled = objectsAt(status, "conditions").find(
    (condition) => condition["type"] === "PodScheduled" && condition["status"] === "False",
  );
  if (unscheduled !== undefined) return `is on no node: ${quote(textAt(unscheduled, "message") ?? "")}`;
  for (const name of [MANAGER, PROBE]) {
    const why = whyNotRun(all.find((container) => container["name"] === name));
    if (why !== "") return `does not start its container ${name}: ${why}`;
  }
  return "";
}

function whyNotRun(container: RawObject | undefined): string {
  const state = objectAt(container, "state");
  if (objectAt(state, "running") !== undefined) return "";
  const ended = objectAt(state, "terminated");
  if (ended !== undefined) return ended["exitCode"] === 0 ? "" : `it ended with status ${String(ended["exitCode"])}`;
  const waiting = objectAt(state, "waiting");
  const message = textAt(waiting, "message") ?? "";
  return `${textAt(waiting, "reason") ?? "nothing is known of it yet"}${message === "" ? "" : `: ${quote(message)}`}`;
}

/** The generated name differs in every attempt, so the same refusal would be reported again each time. */
const FORBIDDEN_POD = /^pods "[^"]*" is forbidden: /;

/** In characters. A quota's message repeats its amounts three times: the usual four resources fit. */
const MESSAGE_LIMIT = 300;

export function refusalMessage(status: RawObject | undefined): string {
  return quoteUpTo(MESSAGE_LIMIT, (textAt(status, "message") ?? "").replace(FORBIDDEN_POD, ""));
}
