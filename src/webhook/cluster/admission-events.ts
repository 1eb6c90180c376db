/** Creates Events for admissions, because users do not see the warnings that a controller gets when it creates Pods. Pure. */
import { type EventSpec, isValidOwner, MESSAGE_LIMIT, type Owner } from "../../api-server/event-object.ts";
import type { RecordEvent } from "../../api-server/event-recorder.ts";
import { plainText } from "../../contract/untrusted-text.ts";
import { type Outcome, SKIP_REASONS, type SkipReason } from "../../injection/outcome.ts";
import { isUnexpected } from "../../injection/review.ts";
import { podName } from "../../kubernetes/pod.ts";
import { isRawObject, objectAt, objectsAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import type { Problem, ProblemCode } from "../../policy/problem.ts";
import type { ReportSettings } from "../admission/admit.ts";

export type RecordOutcome = (pod: object, namespace: string, outcome: Outcome) => void;

export function outcomeRecorder(recordEvent: RecordEvent): RecordOutcome {
  return (pod, namespace, outcome) => {
    for (const event of outcomeEvents(pod, namespace, outcome)) recordEvent(event);
  };
}

export function settingsRecorder(recordEvent: RecordEvent): ReportSettings {
  return (object, namespace, problems) => {
    for (const event of settingsEvents(object, namespace, problems)) recordEvent(event);
  };
}

const OPT_OUT_REASONS: readonly SkipReason[] = ["disabled", "not_enabled", "system_namespace", "mirror_pod"];

/** Reason of the Event for a Pod that was skipped for another reason than an opt-out. */
export const NOT_INJECTED = "NotInjected";

/** Problems that are not a user's mistake; they end when the API server responds again. */
export const CODES_WITHOUT_EVENT: readonly ProblemCode[] = ["namespace_unknown"];

/**
 * One Event for an unexpected skip and one per problem code, on the Pod's controller, because the Pod does not exist yet. A
 * refusal gets no Event: the response and the controller's own Events show it.
 */
export function outcomeEvents(pod: object, namespace: string, outcome: Outcome): readonly EventSpec[] {
  const raw: RawObject = isRawObject(pod) ? pod : {};
  if (outcome.kind === "refused" || (outcome.kind === "unchanged" && OPT_OUT_REASONS.includes(outcome.reason)))
    return [];
  const problems = outcome.explanation.problems.filter(({ code }) => !CODES_WITHOUT_EVENT.includes(code));
  const skipReason = outcome.kind === "unchanged" && isUnexpected(outcome.reason) ? outcome.reason : undefined;
  if (problems.length === 0 && skipReason === undefined) return [];
  const owner = controllerOf(raw);
  if (owner === undefined) return [];
  const subject = { namespace, owner };
  const skipEvents =
    skipReason === undefined ? [] : [warningEvent(subject, NOT_INJECTED, skipMessage(raw, skipReason))];
  return [...skipEvents, ...problemEvents(subject, problems)];
}

/** Events on the controller if the object is a Pod, otherwise on the object if it has a UID. */
export function settingsEvents(
  object: RawObject,
  namespace: string,
  problems: readonly Problem[],
): readonly EventSpec[] {
  const owner = textAt(object, "kind") === "Pod" ? controllerOf(object) : referenceTo(object);
  return owner === undefined ? [] : problemEvents({ namespace, owner }, problems);
}

type EventSubject = Pick<EventSpec, "namespace" | "owner">;

function problemEvents(subject: EventSubject, problems: readonly Problem[]): readonly EventSpec[] {
  return [...messagesByCode(problems)].map(([code, text]) => warningEvent(subject, eventReasonOf(code), text));
}

function warningEvent(subject: EventSubject, reason: string, text: string): EventSpec {
  return { ...subject, type: "Warning", reason, message: plainText(text, MESSAGE_LIMIT) };
}

function skipMessage(pod: RawObject, reason: SkipReason): string {
  return `Pod ${podName(pod)} was not injected (${reason}): ${SKIP_REASONS[reason]}.`;
}

function messagesByCode(problems: readonly Problem[]): ReadonlyMap<ProblemCode, string> {
  const texts = new Map<ProblemCode, string>();
  for (const { code, where, message } of problems) {
    const previousText = texts.get(code);
    texts.set(code, `${previousText === undefined ? "" : `${previousText} `}${where}: ${message}`);
  }
  return texts;
}

export function eventReasonOf(code: ProblemCode): string {
  return code.replace(/(^|_)([a-z])/g, (_whole, _gap, letter: string) => letter.toUpperCase());
}

/** The API server has not validated the Pod yet, so a malformed reference is ignored. */
function controllerOf(pod: RawObject): Owner | undefined {
  const reference = objectsAt(objectAt(pod, "metadata"), "ownerReferences").find(
    (reference) => reference["controller"] === true,
  );
  return ownerFrom(reference, reference);
}

function referenceTo(object: RawObject): Owner | undefined {
  return ownerFrom(object, objectAt(object, "metadata"));
}

function ownerFrom(typeSource: RawObject | undefined, nameSource: RawObject | undefined): Owner | undefined {
  const owner = {
    apiVersion: textAt(typeSource, "apiVersion") ?? "",
    kind: textAt(typeSource, "kind") ?? "",
    name: textAt(nameSource, "name") ?? "",
    uid: textAt(nameSource, "uid") ?? "",
  };
  return owner.apiVersion !== "" && isValidOwner(owner) ? owner : undefined;
}
