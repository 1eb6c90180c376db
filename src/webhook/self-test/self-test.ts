/**
 * Proves injection end to end: API server, selectors, certificate, webhook, patch. A dry-run Pod that opts in must be injected; a
 * Pod that opts out must not. Optionally starts a Pod, for which the manager's image must be pulled and run.
 */
import type { SendRequest } from "../../api-server/api-request.ts";
import { annotationsOf } from "../../kubernetes/pod.ts";
import { isRawObject, objectAt, objectsAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { STATUS_ANNOTATION } from "../../policy/fields.ts";
import { quote, quoteUpTo } from "../../policy/quote.ts";
import { MANAGER, type OptIn, PROBE_CONTAINER, type ProbeSpec, probePod, startablePod } from "./probe-pods.ts";

type SelfTestPorts = {
  readonly request: SendRequest;
  readonly sleep: (ms: number) => Promise<void>;
  readonly nowMs: () => number;
  readonly report: (sentence: string) => void;
};

type SelfTestSpec = ProbeSpec & {
  readonly waitMs: number;
  readonly startsPod: boolean;
};

/** Longer than the longest webhook timeout of an API server, 30 s. */
const RESPONSE_TIMEOUT_MS = 35_000;
const PAUSE_MS = 1_000;

export async function runSelfTest(spec: SelfTestSpec, ports: SelfTestPorts): Promise<boolean> {
  const endMs = ports.nowMs() + spec.waitMs;
  const isInjecting = await tryUntil(endMs, ports, () => findError(spec, ports.request));
  if (!isInjecting || !spec.startsPod) return isInjecting;
  const startedPod = startedPodIn(spec.namespace, ports.request);
  try {
    const pod = startablePod(spec, STARTED_POD);
    // The Pod of an earlier self-test may still be terminating.
    const isCreated = await tryUntil(endMs, ports, async () => {
      await startedPod.remove();
      return startedPod.create(pod);
    });
    return isCreated && (await tryUntil(endMs, ports, startedPod.findError));
  } finally {
    await startedPod.remove().catch((error) => ports.report(unreachableText(error)));
  }
}

async function tryUntil(endMs: number, ports: SelfTestPorts, attempt: () => Promise<string>): Promise<boolean> {
  let lastError = "";
  for (;;) {
    const error = await attempt().catch(unreachableText);
    if (error === "") return true;
    if (error !== lastError) ports.report(error);
    lastError = error;
    if (ports.nowMs() + PAUSE_MS > endMs) return false;
    await ports.sleep(PAUSE_MS);
  }
}

function unreachableText(error: unknown): string {
  return `The request to the API server failed: ${error instanceof Error ? error.message : String(error)}`;
}

async function findError(spec: SelfTestSpec, request: SendRequest): Promise<string> {
  const optInResult = await create(spec, "enabled", request);
  if (optInResult.kind === "failed") return optInResult.error;
  if (!optInResult.isInjected) return NOT_INJECTED;
  const optOutResult = await create(spec, "disabled", request);
  if (optOutResult.kind === "failed") return optOutResult.error;
  return optOutResult.isInjected ? INJECTED_ANYWAY : "";
}

const NOT_INJECTED =
  "A Pod with the label lastcall.dev/inject=enabled was not injected. The API server does not call the webhook, or does not trust the webhook's certificate.";
const INJECTED_ANYWAY = "A Pod with the label lastcall.dev/inject=disabled was injected.";

type CreateResult =
  | { readonly kind: "created"; readonly isInjected: boolean }
  | { readonly kind: "failed"; readonly error: string };

async function create(spec: ProbeSpec, optIn: OptIn, request: SendRequest): Promise<CreateResult> {
  const { namespace } = spec;
  const path = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
  const body = JSON.stringify(probePod(spec, optIn));
  const response = await request({ method: "POST", path, body, limitMs: RESPONSE_TIMEOUT_MS });
  const object = parseObject(response.text);
  if (response.status === 201)
    return { kind: "created", isInjected: textAt(annotationsOf(object), STATUS_ANNOTATION) !== undefined };
  const message = refusalMessage(object);
  return {
    kind: "failed",
    error: `The API server refuses a Pod in namespace ${namespace} (${response.status}): ${message}`,
  };
}

/** A constant name, so that RBAC can limit the rights to read and delete Pods to this Pod. */
export const STARTED_POD = "lastcall-self-test";

const REQUEST_TIMEOUT_MS = 35_000;

type StartedPod = {
  readonly create: (pod: object) => Promise<string>;
  readonly findError: () => Promise<string>;
  readonly remove: () => Promise<void>;
};

export function startedPodIn(namespace: string, request: SendRequest): StartedPod {
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const path = `${pods}/${STARTED_POD}`;
  return {
    create: async (pod) => {
      const response = await request({
        method: "POST",
        path: pods,
        body: JSON.stringify(pod),
        limitMs: REQUEST_TIMEOUT_MS,
      });
      if (response.status === 201) return "";
      const message = refusalMessage(parseObject(response.text));
      return `The API server refuses Pod ${STARTED_POD} in namespace ${namespace} (${response.status}): ${message}`;
    },
    findError: async () => {
      const response = await request({ method: "GET", path, limitMs: REQUEST_TIMEOUT_MS });
      const error =
        response.status === 200
          ? findStartError(parseObject(response.text))
          : `cannot be read: the API server responded with ${response.status}`;
      return error === "" ? "" : `Pod ${STARTED_POD} in namespace ${namespace} ${error}`;
    },
    remove: async () => {
      await request({ method: "DELETE", path: `${path}?gracePeriodSeconds=0`, limitMs: REQUEST_TIMEOUT_MS });
    },
  };
}

function parseObject(text: string): RawObject {
  const value: unknown = JSON.parse(text);
  if (!isRawObject(value)) throw new Error("the API server's response is not a JSON object");
  return value;
}

function findStartError(pod: RawObject): string {
  const status = objectAt(pod, "status");
  const containerStatuses = [...objectsAt(status, "initContainerStatuses"), ...objectsAt(status, "containerStatuses")];
  const unscheduled = objectsAt(status, "conditions").find(
    (condition) => condition["type"] === "PodScheduled" && condition["status"] === "False",
  );
  if (unscheduled !== undefined) return `is not scheduled: ${quote(textAt(unscheduled, "message") ?? "")}`;
  for (const name of [MANAGER, PROBE_CONTAINER]) {
    const error = findContainerError(containerStatuses.find((container) => container["name"] === name));
    if (error !== "") return `does not start its container ${name}: ${error}`;
  }
  return "";
}

function findContainerError(container: RawObject | undefined): string {
  const state = objectAt(container, "state");
  if (objectAt(state, "running") !== undefined) return "";
  const terminated = objectAt(state, "terminated");
  if (terminated !== undefined)
    return terminated["exitCode"] === 0 ? "" : `it exited with status ${String(terminated["exitCode"])}`;
  const waiting = objectAt(state, "waiting");
  const message = textAt(waiting, "message") ?? "";
  return `${textAt(waiting, "reason") ?? "it has no status yet"}${message === "" ? "" : `: ${quote(message)}`}`;
}

/** Removed from messages: the generated name differs in each refusal, so repetitions would be reported again. */
const FORBIDDEN_POD = /^pods "[^"]*" is forbidden: /;

/** In characters. A quota's message contains its amounts three times; a message with four resources fits. */
const MESSAGE_LIMIT_CHARACTERS = 300;

export function refusalMessage(status: RawObject | undefined): string {
  return quoteUpTo(MESSAGE_LIMIT_CHARACTERS, (textAt(status, "message") ?? "").replace(FORBIDDEN_POD, ""));
}
