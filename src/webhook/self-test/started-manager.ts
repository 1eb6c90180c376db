/** Starts one Pod for real: the manager's image can be pulled in this namespace, and runs under what injection gives it. */
import type { AskApi } from "../../api-server/api-request.ts";
import { isRawObject, objectAt, objectsAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { quote } from "../../policy/quote.ts";
import { MANAGER, PROBE } from "./probe-pods.ts";
import { refusalMessage } from "./refusal-message.ts";

/** The Pod's name is always the same, so that the rights to read and delete it can name it. */
export const STARTED_POD = "lastcall-self-test";

const ANSWER_LIMIT_MS = 35_000;

type StartedPod = {
  readonly create: (pod: object) => Promise<string>;
  /** Empty once the manager and the probe have run. */
  readonly whatIsWrong: () => Promise<string>;
  readonly remove: () => Promise<void>;
};

export function startedPodIn(namespace: string, ask: AskApi): StartedPod {
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const path = `${pods}/${STARTED_POD}`;
  return {
    create: async (pod) => {
      const answer = await ask({ method: "POST", path: pods, body: JSON.stringify(pod), limitMs: ANSWER_LIMIT_MS });
      if (answer.status === 201) return "";
      const message = refusalMessage(parsed(answer.text));
      return `The API server refuses Pod ${STARTED_POD} in namespace ${namespace} (${answer.status}): ${message}`;
    },
    whatIsWrong: async () => {
      const answer = await ask({ method: "GET", path, limitMs: ANSWER_LIMIT_MS });
      const why = answer.status === 200 ? whyNotStarted(parsed(answer.text)) : `cannot be read (${answer.status})`;
      return why === "" ? "" : `Pod ${STARTED_POD} in namespace ${namespace} ${why}`;
    },
    remove: async () => {
      await ask({ method: "DELETE", path: `${path}?gracePeriodSeconds=0`, limitMs: ANSWER_LIMIT_MS });
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
