/** Edits the Pods of one manifest, and verifies that the edited text parses to the intended values. */
import { type LocatedPod, withPodAt } from "../../kubernetes/pod-template.ts";
import { isSameJson } from "../../kubernetes/raw-json.ts";
import { applySplices } from "./lines.ts";
import { type ManifestProblem, type ParsedDocument, type ParsedManifest, parseManifest } from "./parse.ts";
import { MARK } from "./preserved-lines.ts";
import { rewriteDocument } from "./rewrite.ts";

export type PodEdit = (locatedPod: LocatedPod, document: ParsedDocument) => object | undefined;

type EditedManifest =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: ManifestProblem };

export function editManifest(text: string, manifest: ParsedManifest, edit: PodEdit, preserve: boolean): EditedManifest {
  const intendedValues = manifest.documents.map((document) => intendedValue(document, edit));
  if (manifest.documents.every((document, index) => document.value === intendedValues[index]))
    return { ok: true, text };
  let differentIndex: number | undefined;
  for (const restore of text.includes(MARK) ? [true, false] : [false]) {
    const splices = manifest.documents.flatMap((document, index) =>
      document.value === intendedValues[index]
        ? []
        : rewriteDocument(text, document, intendedValues[index], { restore, preserve }),
    );
    const changedText = applySplices(text, splices);
    differentIndex = changedText === undefined ? 0 : firstDifference(changedText, intendedValues);
    if (changedText !== undefined && differentIndex === undefined) return { ok: true, text: changedText };
  }
  return { ok: false, problem: uneditableProblem(manifest.documents[differentIndex ?? 0]) };
}

function intendedValue(document: ParsedDocument, edit: PodEdit): unknown {
  return document.pods.reduce((value: unknown, locatedPod) => {
    const pod = edit(locatedPod, document);
    return pod === undefined ? value : withPodAt(value, locatedPod.path, pod);
  }, document.value);
}

function firstDifference(text: string, intendedValues: readonly unknown[]): number | undefined {
  const { documents, problems } = parseManifest(text);
  if (problems.length > 0 || documents.length !== intendedValues.length)
    return Math.max(0, (problems[0]?.document ?? 1) - 1);
  const index = documents.findIndex((document, at) => !isSameJson(document.value, intendedValues[at]));
  return index < 0 ? undefined : index;
}

function uneditableProblem(document: ParsedDocument | undefined): ManifestProblem {
  return {
    document: document?.number ?? 0,
    place: undefined,
    message:
      "this document is written in a way that cannot be edited in place (an anchor, alias, merge key, tag or ? key in the Pod or around it); rewrite that part without them and try again",
  };
}
