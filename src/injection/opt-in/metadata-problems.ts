/** Reports problems in labels and annotations with the prefix lastcall.dev/, each with its key. */
import { isAbsent, objectAt, type RawObject } from "../../kubernetes/raw-json.ts";
import { ANNOTATIONS, FIELDS, INJECT, PREFIX, REVISION, STATUS_ANNOTATION } from "../../policy/fields.ts";
import { findNearest } from "../../policy/nearest.ts";
import type { Problem } from "../../policy/problem.ts";
import { quote } from "../../policy/quote.ts";
import { type Profiles, resolvePolicy, unknownAnnotationProblem } from "../../policy/resolve.ts";

export type MetadataProblem = {
  readonly metadataField: "labels" | "annotations";
  readonly key: string;
  readonly value: unknown;
  readonly problem: Problem;
};

type CheckedObject = {
  readonly scope: "pod" | "namespace";
  readonly name: string;
  readonly object: RawObject;
};

export function metadataProblems(
  { scope, name, object }: CheckedObject,
  profiles: Profiles,
): readonly MetadataProblem[] {
  const { labels, annotations } = metadataOf(object);
  // Resolves each annotation separately to assign the problems to its key.
  const annotationProblems = lastcallEntries(annotations).flatMap(([key, value]) =>
    resolvePolicy([{ scope, name, annotations: { [key]: value } }], profiles).problems.map((problem) => ({
      metadataField: "annotations" as const,
      key,
      value,
      problem,
    })),
  );
  return [
    ...labelProblems(labels, `${scope} ${name}`),
    ...annotationProblems,
    ...ineffectiveOptInProblems({ scope, name, object }),
  ];
}

/** A namespace opts in by label; the annotation alone has no effect. */
function ineffectiveOptInProblems({ scope, name, object }: CheckedObject): readonly MetadataProblem[] {
  const { labels, annotations } = metadataOf(object);
  if (scope !== "namespace" || annotations[INJECT] !== "enabled" || labels[INJECT] === "enabled") return [];
  const where = `namespace ${name}, annotation ${INJECT}`;
  const message = "The annotation has no effect, because webhook selectors match only labels. Set the label.";
  return [
    { metadataField: "annotations", key: INJECT, value: "enabled", problem: { code: "wrong_scope", where, message } },
  ];
}

export function labelProblems(labels: RawObject, where: string): readonly MetadataProblem[] {
  return lastcallEntries(labels).flatMap(([key, value]) => {
    const problem = labelProblem(key, value, where);
    return problem === undefined ? [] : [{ metadataField: "labels" as const, key, value, problem }];
  });
}

const LABELS: readonly string[] = [INJECT, REVISION];

const ANNOTATION_KEYS: readonly string[] = FIELDS.map((field) => PREFIX + ANNOTATIONS[field].name);

function labelProblem(key: string, value: unknown, where: string): Problem | undefined {
  if (!LABELS.includes(key)) return unknownLabelProblem(key, where);
  if (key !== INJECT || isAbsent(value) || value === "enabled" || value === "disabled") return undefined;
  const got = typeof value === "string" ? quote(value) : `${typeof value === "object" ? "an" : "a"} ${typeof value}`;
  const message = `Got ${got}, expected ${ANNOTATIONS.inject.codec.expects}.`;
  return { code: "bad_value", where: `${where}, label ${key}`, message };
}

function unknownLabelProblem(key: string, where: string): Problem {
  const code = "unknown_label";
  if (ANNOTATION_KEYS.includes(key))
    return { code, where, message: `${quote(key)} is an annotation, not a label. Set it as an annotation.` };
  const suggestion = findNearest(
    key.slice(PREFIX.length),
    LABELS.map((label) => label.slice(PREFIX.length)),
  );
  const hint = suggestion === undefined ? `expected ${LABELS.join(" or ")}` : `did you mean ${PREFIX}${suggestion}?`;
  return { code, where, message: `Label ${quote(key)} is unknown; ${hint}` };
}

/** Reports keys of a workload that its Pod template does not have, because Pods do not inherit a workload's metadata. */
export function misplacedMetadataProblems(
  object: RawObject,
  owner: string,
  template: RawObject,
): readonly MetadataProblem[] {
  const workloadMetadata = metadataOf(object);
  const templateMetadata = metadataOf(template);
  return (["labels", "annotations"] as const).flatMap((kind) =>
    lastcallEntries(workloadMetadata[kind])
      .filter(([key, value]) => templateMetadata[kind][key] !== value)
      .map(([key, value]) => ({ metadataField: kind, key, value, problem: misplacedProblem(kind, key, owner) })),
  );
}

function misplacedProblem(kind: "labels" | "annotations", key: string, owner: string): Problem {
  if (kind === "labels" && !LABELS.includes(key)) return unknownLabelProblem(key, owner);
  if (kind === "annotations" && !ANNOTATION_KEYS.includes(key)) return unknownAnnotationProblem(key, owner);
  const message = `${quote(key)} has no effect on the workload. Set it on the Pod template.`;
  return { code: "wrong_scope", where: owner, message };
}

type Metadata = { readonly labels: RawObject; readonly annotations: RawObject };

function metadataOf(object: RawObject): Metadata {
  const metadata = objectAt(object, "metadata");
  return { labels: objectAt(metadata, "labels") ?? {}, annotations: objectAt(metadata, "annotations") ?? {} };
}

/** Maximum number of checked keys per object, because a suggestion for an unknown key takes thousands of steps. */
const ENTRIES_LIMIT = 100;

function lastcallEntries(map: RawObject): readonly [string, unknown][] {
  const keys = Object.keys(map).filter((key) => key.startsWith(PREFIX) && key !== STATUS_ANNOTATION);
  return keys.slice(0, ENTRIES_LIMIT).map((key) => [key, map[key]]);
}
