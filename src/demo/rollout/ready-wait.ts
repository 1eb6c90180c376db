/** How long Pods are waited for, and what is said about one that does not get Ready. Pure. */
import { MANAGER_CONTAINER } from "../../contract/manager-environment.ts";
import type { PodEvent, RunningPod } from "../pods/running-pod.ts";

/** A Pod that is not Ready by then never will be. */
const READY_LIMIT_MS = 30_000;
/** An app that ended so often will not stay. */
const EXIT_LIMIT = 3;
const WORDS_LIMIT = 300;

type Waited = Pick<RunningPod, "events" | "plan">;

/** The sentence that ends the wait, or `undefined` while it is worth waiting. */
export function hopelessness(pods: readonly Waited[], waitedMs: number): string | undefined {
  const fallen = pods.find((pod) => exitsOf(pod).length >= EXIT_LIMIT);
  if (fallen !== undefined) return `Pod ${fallen.plan.name} does not stay up: ${lastWords(fallen)}`;
  const [late] = pods;
  if (waitedMs <= READY_LIMIT_MS || late === undefined) return undefined;
  return `Pod ${late.plan.name} was not Ready within ${READY_LIMIT_MS / 1_000} s: ${lastWords(late)}`;
}

function exitsOf({ events }: Waited): readonly PodEvent[] {
  return events.filter((event) => event.what === "exited");
}

function lastWords(pod: Waited): string {
  const exit = exitsOf(pod).at(-1);
  const said = pod.events.filter((event) => event.what === "line" && event.container !== MANAGER_CONTAINER);
  const words = said.slice(-2).map((event) => `${event.container}: ${event.detail.slice(0, WORDS_LIMIT)}`);
  const how =
    exit === undefined ? "it runs, and its readiness probe fails" : `${exit.container} ended with ${exit.detail}`;
  return [how, ...(words.length === 0 ? ["it printed nothing"] : [`it printed last: ${words.join(" | ")}`])].join("; ");
}
