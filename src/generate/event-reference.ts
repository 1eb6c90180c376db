/** Every Kubernetes Event that lastcall writes. */
import { PROBLEMS, type ProblemCode } from "../policy/problem.ts";
import { DRAIN_EVENTS } from "../relay/drains/drain-note.ts";
import { eventReasonOf, NOT_INJECTED, WITHOUT_EVENT } from "../webhook/cluster/event-notes.ts";
import { code, markdownTable } from "./markdown-table.ts";

const DRAINS: Readonly<Record<keyof typeof DRAIN_EVENTS, string>> = {
  drained: "the traffic of a Pod was gone, and the Pod was released",
  blind: "the manager could not see whether the traffic of a Pod was gone, and released it; the message says why",
  timeout: "the drain of a Pod ended at its deadline; the message names who stayed connected",
  forced: "the manager was told to stop before the drain of its Pod had ended",
  lost: "the manager of a Pod died in the middle of the drain; the message has the exit code",
};

export function eventReference(): string {
  const codes = (Object.keys(PROBLEMS) as ProblemCode[]).filter((problem) => !WITHOUT_EVENT.includes(problem));
  const drains = (Object.keys(DRAINS) as (keyof typeof DRAINS)[]).map((outcome) => {
    const { reason, type } = DRAIN_EVENTS[outcome];
    return [code(reason), type, DRAINS[outcome]];
  });
  return markdownTable(
    ["reason", "type", "when"],
    [
      [code(NOT_INJECTED), "Warning", "a Pod asked for injection and was left alone; the message gives the reason"],
      ...codes.map((problem) => [code(eventReasonOf(problem)), "Warning", PROBLEMS[problem]]),
      ...drains,
    ],
  );
}
