/** What somebody should hear of an admission who never sees its warnings, because a controller creates the Pods. Pure. */
import { type Outcome, SKIP_REASONS, type SkipReason } from "../../injection/outcome.ts";
import { isSurprising } from "../../injection/review.ts";
import { podName } from "../../kubernetes/pod.ts";
import { isRawObject, objectAt, objectsAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { oneLine } from "../../policy/one-line.ts";
import type { Problem, ProblemCode } from "../../policy/problem.ts";

/** The controller of a Pod, as the Pod names it. */
export type Owner = { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string };

export type Note = {
  readonly namespace: string;
  readonly owner: Owner;
  /** One word in the API's style, such as `NotInjected`. */
  readonly reason: string;
  /** One line of printable text. */
  readonly message: string;
};

/** Longest message of an Event the API server takes is 1024 bytes. */
const MESSAGE_LIMIT = 1_000;

/** Whoever is left alone for these did not ask for anything. */
const UNASKED: readonly SkipReason[] = ["disabled", "not_enabled", "system_namespace", "mirror_pod"];

/** Ours, and over when the API server answers again. */
const UNTOLD: readonly ProblemCode[] = ["namespace_unknown"];

/**
 * One note for a surprising skip and one per kind of problem, on the Pod's controller: the Pod itself does not exist
 * yet. A Pod without one gets none. A refusal reaches people through the answer itself.
 */
export function notesOn(pod: object, namespace: string, outcome: Outcome): readonly Note[] {
  const raw: RawObject = isRawObject(pod) ? pod : {};
  if (outcome.kind === "refused" || (outcome.kind === "unchanged" && UNASKED.includes(outcome.reason))) return [];
  const problems = outcome.explanation.problems.filter(({ code }) => !UNTOLD.includes(code));
  const skipped = outcome.kind === "unchanged" && isSurprising(outcome.reason) ? outcome.reason : undefined;
  if (problems.length === 0 && skipped === undefined) return [];
  const owner = controllerOf(raw);
  if (owner === undefined) return [];
  const note = (reason: string, text: string): Note => ({
    namespace,
    owner,
    reason,
    message: oneLine(text, MESSAGE_LIMIT),
  });
  const skip = skipped === undefined ? [] : [note("NotInjected", skipText(raw, skipped))];
  return [...skip, ...[...byCode(problems)].map(([code, text]) => note(reasonOf(code), text))];
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
function reasonOf(code: ProblemCode): string {
  return code.replace(/(^|_)([a-z])/g, (_whole, _gap, letter: string) => letter.toUpperCase());
}

/** The API server has not checked the Pod yet: what does not look like a reference is none. */
function controllerOf(pod: RawObject): Owner | undefined {
  const reference = objectsAt(objectAt(pod, "metadata"), "ownerReferences").find((one) => one["controller"] === true);
  const apiVersion = textAt(reference, "apiVersion") ?? "";
  const kind = textAt(reference, "kind") ?? "";
  const name = textAt(reference, "name") ?? "";
  const uid = textAt(reference, "uid") ?? "";
  // A mirror Pod belongs to its node, which is in no namespace.
  const isReference =
    /^[a-z0-9./-]{1,253}$/.test(apiVersion) &&
    /^[A-Za-z][A-Za-z0-9]{0,62}$/.test(kind) &&
    /^[a-z0-9][-a-z0-9.]{0,252}$/.test(name) &&
    /^[-0-9A-Za-z]{1,64}$/.test(uid) &&
    kind !== "Node";
  return isReference ? { apiVersion, kind, name, uid } : undefined;
}
