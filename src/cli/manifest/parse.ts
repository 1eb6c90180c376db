/** Parses a manifest to documents with syntax tree, value and Pods, and collects problems with their places. */
import { type Document, isMap, isScalar, LineCounter, visit } from "yaml";
import { containersOf, initContainersOf } from "../../kubernetes/pod.ts";
import { type LocatedPod, podsIn } from "../../kubernetes/pod-template.ts";
import { textAt } from "../../kubernetes/raw-json.ts";
import type { TemplatePath } from "../../kubernetes/template-path.ts";
import { parseTrees } from "./kubectl-yaml.ts";
import { readNode, Unreadable } from "./node-value.ts";

export type Place = { readonly line: number; readonly column: number };

/** `document` counts from 1; 0 is the whole file. */
export type ManifestProblem = {
  readonly document: number;
  readonly place: Place | undefined;
  readonly message: string;
};

export type ParsedDocument = {
  readonly number: number;
  readonly tree: Document.Parsed;
  readonly value: unknown;
  readonly pods: readonly LocatedPod[];
  /** Duplicate keys (the last one is used, as in kubectl), and suspected templates. */
  readonly warnings: readonly ManifestProblem[];
};

export type ParsedManifest = {
  readonly documents: readonly ParsedDocument[];
  readonly problems: readonly ManifestProblem[];
};

/**
 * Reads YAML 1.1 or JSON as kubectl does: `yes` is true and `0644` is octal. Sexagesimal numbers (`22:22`), dates and
 * binary values are not converted.
 */
export function parseManifest(text: string, templatePaths: readonly TemplatePath[] = []): ParsedManifest {
  const lineCounter = new LineCounter();
  const placeAt = (offset: number): Place => {
    const { line, col } = lineCounter.linePos(offset);
    return { line, column: col };
  };
  const trees = parseTrees(text, lineCounter);
  if (trees === undefined) return { documents: [], problems: [{ document: 0, place: undefined, message: TOO_DEEP }] };
  const documents: ParsedDocument[] = [];
  const problems: ManifestProblem[] = [];
  for (const [index, tree] of trees.entries()) {
    const reading = readTree(text, tree, { number: index + 1, placeAt, knownPaths: templatePaths });
    if ("message" in reading) problems.push(reading);
    else documents.push(reading);
  }
  return { documents, problems };
}

type DocumentContext = {
  readonly number: number;
  readonly placeAt: (offset: number) => Place;
  readonly knownPaths: readonly TemplatePath[];
};

function readTree(
  text: string,
  tree: Document.Parsed,
  { number, placeAt, knownPaths }: DocumentContext,
): ParsedDocument | ManifestProblem {
  const problemAt = (offset: number, message: string): ManifestProblem => ({
    document: number,
    place: placeAt(offset),
    message,
  });
  try {
    const templateOffset = findUnrenderedSyntax(text, tree);
    if (templateOffset !== undefined) return problemAt(templateOffset, TEMPLATE_MESSAGE);
    const error = tree.errors[0];
    if (error !== undefined) return problemAt(error.pos[0], syntaxMessage(error.message));
    const { value, duplicates } = readNode(tree.contents);
    const pods = podsIn(value, knownPaths);
    const quotedTemplateOffset = findUnrenderedWorkload(pods, tree);
    const warnings = duplicates.map(({ key, offset }) =>
      problemAt(offset, `duplicate key "${key}" in one mapping; its last value is used`),
    );
    if (quotedTemplateOffset !== undefined) warnings.push(problemAt(quotedTemplateOffset, QUOTED_TEMPLATE_MESSAGE));
    return { number, tree, value, pods, warnings };
  } catch (cause) {
    if (!(cause instanceof Unreadable) && !(cause instanceof RangeError)) throw cause;
    return problemAt(tree.range[0], cause instanceof Unreadable ? cause.message : TOO_DEEP);
  }
}

const TOO_DEEP = "the document is nested too deeply to be read";

function syntaxMessage(message: string): string {
  const firstLine = message.split("\n")[0] ?? message;
  if (firstLine.includes("call stack")) return TOO_DEEP;
  return `not valid YAML or JSON: ${firstLine}`;
}

const TEMPLATE_MESSAGE =
  "this is an unrendered template ({{ … }}); run helm template (or your tool's equivalent) first and pipe its output here";

/** Only a warning, because some tools render such templates later. */
const QUOTED_TEMPLATE_MESSAGE = "this looks like an unrendered template ({{ … }}); used unchanged";

/** Offset of the first `{{ … }}` outside of strings: a flow mapping as a key, or braces in a document with errors. */
function findUnrenderedSyntax(text: string, tree: Document.Parsed): number | undefined {
  // YAML parses `{{ name }}` as a mapping whose key is a mapping, which Kubernetes never uses.
  if (tree.errors.length === 0)
    return findFirstNodeOffset(tree, (node, key) => key === "key" && isMap(node) && node.flow === true);
  const offset = text.slice(0, tree.range[2]).search(/^[^#\n]*\{\{/m);
  return offset < 0 ? undefined : text.indexOf("{{", offset);
}

/** Offset of the first name, namespace or image of a workload with `{{`; other fields may contain braces. */
function findUnrenderedWorkload(pods: readonly LocatedPod[], tree: Document.Parsed): number | undefined {
  const templateNames = new Set(pods.flatMap(namesOf).filter((name) => name.includes("{{")));
  if (templateNames.size === 0) return undefined;
  return findFirstNodeOffset(tree, (node) => isScalar(node) && templateNames.has(String(node.value)));
}

function namesOf({ owner, namespace, pod }: LocatedPod): readonly string[] {
  const containers = [...containersOf(pod), ...initContainersOf(pod)];
  const containerTexts = containers.flatMap((container) => [
    textAt(container, "name") ?? "",
    textAt(container, "image") ?? "",
  ]);
  return [owner.slice(owner.indexOf("/") + 1), namespace, ...containerTexts];
}

function findFirstNodeOffset(
  tree: Document.Parsed,
  isMatch: (node: unknown, key: unknown) => boolean,
): number | undefined {
  let offset: number | undefined;
  visit(tree, {
    Value: (key, node) => {
      if (!isMatch(node, key)) return undefined;
      offset = node.range?.[0];
      return visit.BREAK;
    },
  });
  return offset;
}
