/** What users should hear of an admission: where a controller creates the Pods, they never see its warnings. Pure. */
import { type EventSpec, isOwner, MESSAGE_LIMIT, type Owner } from "../../api-server/event-object.ts";
import type { RecordEvent } from "../../api-server/event-recorder.ts";
import { plainText } from "../../contract/outside-text.ts";
import { type Outcome, SKIP_REASONS, type SkipReason } from "../../injection/outcome.ts";
import { isSurprising } from "../../injection/review.ts";
import { podName } from "../../kubernetes/pod.ts";
import { isRawObject, objectAt, objectsAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import type { Problem, ProblemCode } from "../../policy/problem.ts";
import type { ReportSettings } from "../admission/admit.ts";

/** Never throws and never waits. */
export type RecordOutcome = (pod: object, namespace: string, outcome: Outcome) => void;

export function outcomeRecorder(send: RecordEvent): RecordOutcome {
  return (pod, namespace, outcome) => {
    for (const note of outcomeEvents(pod, namespace, outcome)) send(note);
  };
}

export function settingsRecorder(send: RecordEvent): ReportSettings {
  return (object, namespace, problems) => {
    for (const note of settingsEvents(object, namespace, problems)) send(note);
  };
}

/** A Pod that is skipped for one of these did not ask for injection. */
const UNASKED: readonly SkipReason[] = ["disabled", "not_enabled", "system_namespace", "mirror_pod"];

/** The Event reason of every surprising skip. */
export const NOT_INJECTED = "NotInjected";

/** Ours, and over when the API server answers again. */
export const WITHOUT_EVENT: readonly ProblemCode[] = ["namespace_unknown"];

/**
 * One note for a surprising skip and one per kind of problem, on the Pod's controller: the Pod itself does not exist
 * yet. A Pod without one gets none. A refusal reaches people through the answer itself.
 */
export function outcomeEvents(pod: object, namespace: string, outcome: Outcome): readonly EventSpec[] {
  const raw: RawObject = isRawObject(pod) ? pod : {};
  if (outcome.kind === "refused" || (outcome.kind === "unchanged" && UNASKED.includes(outcome.reason))) return [];
  const problems = outcome.explanation.problems.filter(({ code }) => !WITHOUT_EVENT.includes(code));
  const skipped = outcome.kind === "unchanged" && isSurprising(outcome.reason) ? outcome.reason : undefined;
  if (problems.length === 0 && skipped === undefined) return [];
  const owner = controllerOf(raw);
  if (owner === undefined) return [];
  const about = { namespace, owner };
  const skip = skipped === undefined ? [] : [warning(about, NOT_INJECTED, skipText(raw, skipped))];
  return [...skip, ...problemEvents(about, problems)];
}

/** Of a Pod on its controller, of everything else on the object itself, which has a UID once it is stored. */
export function settingsEvents(
  object: RawObject,
  namespace: string,
  problems: readonly Problem[],
): readonly EventSpec[] {
  const owner = textAt(object, "kind") === "Pod" ? controllerOf(object) : referenceTo(object);
  return owner === undefined ? [] : problemEvents({ namespace, owner }, problems);
}

type About = Pick<EventSpec, "namespace" | "owner">;

function problemEvents(about: About, problems: readonly Problem[]): readonly EventSpec[] {
  return [...byCode(problems)].map(([code, text]) => warning(about, eventReasonOf(code), text));
}

function warning(about: About, reason: string, text: string): EventSpec {
  return { ...about, type: "Warning", reason, message: plainText(text, MESSAGE_LIMIT) };
}

function skipText(pod: RawObject, reason: SkipReason): string {
  return `Pod ${podName(pod)} was left alone (${reason}): ${SKIP_REASONS[reason]}.`;
}

function byCode(problems: readonly Problem[]): ReadonlyMap<ProblemCode, string> {
  const texts = new Map<ProblemCode, string>();
  for (const { code, where, message } of problems) {
    const before = texts.get(code);
    texts.set(code, `${before === undefined ? "" : `${before} `}${where}: ${message}`);
  }
  return texts;
}

/** `bad_value` to `BadValue`. */
export function eventReasonOf(code: ProblemCode): string {
  return code.replace(/(^|_)([a-z])/g, (_whole, _gap, letter: string) => letter.toUpperCase());
}

/** The API server has not checked the Pod yet: what does not look like a reference is none. */
function controllerOf(pod: RawObject): Owner | undefined {
  const reference = objectsAt(objectAt(pod, "metadata"), "ownerReferences").find((one) => one["controller"] === true);
  return ownerFrom(reference, reference);
}

function referenceTo(object: RawObject): Owner | undefined {
  return ownerFrom(object, objectAt(object, "metadata"));
}

function ownerFrom(typed: RawObject | undefined, named: RawObject | undefined): Owner | undefined {
  const owner = {
    apiVersion: textAt(typed, "apiVersion") ?? "",
    kind: textAt(typed, "kind") ?? "",
    name: textAt(named, "name") ?? "",
    uid: textAt(named, "uid") ?? "",
  };
  return owner.apiVersion !== "" && isOwner(owner) ? owner : undefined;
}
