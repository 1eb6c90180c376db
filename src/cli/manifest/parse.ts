/** Text to documents: syntax tree, values, and every mistake with its place. */
import { type Document, isMap, isPair, isSeq, LineCounter, type Node, parseAllDocuments, type Tags } from "yaml";
import { readNode, TooLarge } from "./node-value.ts";

export type Place = { readonly line: number; readonly column: number };

/** A mistake in a manifest. `document` counts from 1; 0 means the file as a whole. */
export type ManifestProblem = {
  readonly document: number;
  readonly place: Place | undefined;
  readonly message: string;
};

export type ParsedDocument = {
  readonly number: number;
  readonly tree: Document.Parsed;
  readonly value: unknown;
  readonly values: ReadonlyMap<Node, unknown>;
  /** What each `&name` stands for. */
  readonly anchors: ReadonlyMap<string, unknown>;
  /** Keys written twice in one mapping; the last one counts, as for kubectl. */
  readonly repeated: readonly ManifestProblem[];
};

export type ParsedManifest = {
  readonly documents: readonly ParsedDocument[];
  readonly problems: readonly ManifestProblem[];
};

/**
 * Reads YAML or JSON with the words of YAML 1.1, as kubectl does: `yes` is true and `0644` is octal. Its clock times
 * (`22:22`), dates and binary types are left as text or numbers a person sees.
 */
export function parseManifest(text: string): ParsedManifest {
  const lines = new LineCounter();
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const trees = treesOf(text, lines);
  if (trees === undefined) return { documents: [], problems: [whole(TOO_DEEP)] };
  const documents: ParsedDocument[] = [];
  const problems: ManifestProblem[] = [];
  for (const [index, tree] of trees.entries()) {
    const number = index + 1;
    const template = unrenderedTemplate(text, tree);
    if (template !== undefined) {
      problems.push({ document: number, place: place(template), message: TEMPLATE_MESSAGE });
      continue;
    }
    const error = tree.errors[0];
    if (error !== undefined) {
      problems.push({ document: number, place: place(error.pos[0]), message: syntaxMessage(error.message) });
      continue;
    }
    try {
      const { value, values, anchors, repeated } = readNode(tree.contents);
      const warnings = repeated.map(({ key, offset }) => ({
        document: number,
        place: place(offset),
        message: `the key "${key}" is given twice in one mapping; the last one counts`,
      }));
      documents.push({ number, tree, value, values, anchors, repeated: warnings });
    } catch (cause) {
      if (!(cause instanceof TooLarge) && !(cause instanceof RangeError)) throw cause;
      const message = cause instanceof TooLarge ? cause.message : TOO_DEEP;
      problems.push({ document: number, place: place(tree.range[0]), message });
    }
  }
  return { documents, problems };
}

const TOO_DEEP = "the document is nested too deeply to be read";

const TEMPLATE_MESSAGE =
  "this is a template that has not been rendered yet ({{ … }}); run helm template (or your tool's equivalent) first and pipe its output here";

function whole(message: string): ManifestProblem {
  return { document: 0, place: undefined, message };
}

function treesOf(text: string, lineCounter: LineCounter): readonly Document.Parsed[] | undefined {
  try {
    const trees = parseAllDocuments(text, {
      keepSourceTokens: true,
      lineCounter,
      uniqueKeys: false,
      version: "1.1",
      logLevel: "silent",
      prettyErrors: false,
      customTags: kubernetesTags,
    });
    return Array.isArray(trees) ? trees : [];
  } catch (cause) {
    if (cause instanceof RangeError) return undefined;
    throw cause;
  }
}

const TAGS_NOT_OF_KUBECTL = /(timestamp|binary|omap|pairs|set)$/;

function kubernetesTags(tags: Tags): Tags {
  return tags.filter(
    (tag) =>
      typeof tag === "string" || !(TAGS_NOT_OF_KUBECTL.test(tag.tag) || ("format" in tag && tag.format === "TIME")),
  );
}

function syntaxMessage(message: string): string {
  const first = message.split("\n")[0] ?? message;
  if (first.includes("call stack")) return TOO_DEEP;
  return `not valid YAML or JSON: ${first}`;
}

/** Offset of the first `{{ … }}` that YAML cannot mean: a flow mapping as a key, or braces in a document with errors. */
function unrenderedTemplate(text: string, tree: Document.Parsed): number | undefined {
  if (tree.errors.length === 0) return mappingAsKey(tree.contents);
  const offset = text.slice(0, tree.range[2]).search(/^[^#\n]*\{\{/m);
  return offset < 0 ? undefined : text.indexOf("{{", offset);
}

/** YAML reads `{{ name }}` as a mapping whose key is a mapping; nothing in Kubernetes looks like that. */
function mappingAsKey(root: unknown): number | undefined {
  const open: unknown[] = [root];
  while (open.length > 0) {
    const node = open.pop();
    if (isPair(node)) {
      if (isMap(node.key) && node.key.flow === true) return node.key.range?.[0];
      open.push(node.value);
    } else if (isMap(node) || isSeq(node)) open.push(...node.items);
  }
  return undefined;
}
