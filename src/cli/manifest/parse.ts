/** Text to documents: syntax tree, values, and every mistake with its place. */
import { type Document, LineCounter, type ScalarTag, type Tags } from "yaml";
import { type PodPlace, podsIn } from "../../kubernetes/pod-template.ts";
import type { TemplatePath } from "../../kubernetes/template-path.ts";
import { parseTrees } from "./lenient-parser.ts";
import { readNode, Unreadable } from "./node-value.ts";
import { QUOTED_TEMPLATE_MESSAGE, TEMPLATE_MESSAGE, unrenderedSyntax, unrenderedWorkload } from "./unrendered.ts";

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
  readonly pods: readonly PodPlace[];
  /** Keys written twice in one mapping (the last one counts, as for kubectl), and what looks like a template. */
  readonly warnings: readonly ManifestProblem[];
};

export type ParsedManifest = {
  readonly documents: readonly ParsedDocument[];
  readonly problems: readonly ManifestProblem[];
};

/**
 * Reads YAML or JSON with the words of YAML 1.1, as kubectl does: `yes` is true and `0644` is octal. Its clock times
 * (`22:22`), dates and binary types are left as text or numbers a person sees.
 */
export function parseManifest(text: string, named: readonly TemplatePath[] = []): ParsedManifest {
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
    const read = readTree(text, tree, { number: index + 1, place, named });
    if ("message" in read) problems.push(read);
    else documents.push(read);
  }
  return { documents, problems };
}

type Numbered = {
  readonly number: number;
  readonly place: (offset: number) => Place;
  readonly named: readonly TemplatePath[];
};

function readTree(
  text: string,
  tree: Document.Parsed,
  { number, place, named }: Numbered,
): ParsedDocument | ManifestProblem {
  const problem = (offset: number, message: string): ManifestProblem => ({
    document: number,
    place: place(offset),
    message,
  });
  const template = unrenderedSyntax(text, tree);
  if (template !== undefined) return problem(template, TEMPLATE_MESSAGE);
  const error = tree.errors[0];
  if (error !== undefined) return problem(error.pos[0], syntaxMessage(error.message));
  try {
    const { value, repeated } = readNode(tree.contents);
    const pods = podsIn(value, named);
    const quoted = unrenderedWorkload(pods, tree);
    const warnings = repeated.map(({ key, offset }) =>
      problem(offset, `the key "${key}" is given twice in one mapping; the last one counts`),
    );
    if (quoted !== undefined) warnings.push(problem(quoted, QUOTED_TEMPLATE_MESSAGE));
    return { number, tree, value, pods, warnings };
  } catch (cause) {
    if (!(cause instanceof Unreadable) && !(cause instanceof RangeError)) throw cause;
    return problem(tree.range[0], cause instanceof Unreadable ? cause.message : TOO_DEEP);
  }
}

const TOO_DEEP = "the document is nested too deeply to be read";

function whole(message: string): ManifestProblem {
  return { document: 0, place: undefined, message };
}

function treesOf(text: string, lineCounter: LineCounter): readonly Document.Parsed[] | undefined {
  try {
    return parseTrees(text, lineCounter, {
      keepSourceTokens: true,
      lineCounter,
      uniqueKeys: false,
      version: "1.1",
      logLevel: "silent",
      prettyErrors: false,
      customTags: kubernetesTags,
    });
  } catch (cause) {
    if (cause instanceof RangeError) return undefined;
    throw cause;
  }
}

const TAGS_NOT_OF_KUBECTL = /(timestamp|binary|omap|pairs|set)$/;

/** Go's reader has more prefixes than YAML 1.1: `0o644`, `0O7`, `0X1F`, `0B1`. */
const WHOLE_NUMBERS_OF_GO: ScalarTag = {
  tag: "tag:yaml.org,2002:int",
  default: true,
  test: /^[-+]?0(?:[oO][0-7_]+|X[0-9a-fA-F_]+|B[01_]+)$/,
  resolve: (text) => {
    const digits = text.replaceAll("_", "");
    return digits.startsWith("-") ? -Number(digits.slice(1)) : Number(digits.replace("+", ""));
  },
};

function kubernetesTags(tags: Tags): Tags {
  const kept = tags.filter(
    (tag) =>
      typeof tag === "string" || !(TAGS_NOT_OF_KUBECTL.test(tag.tag) || ("format" in tag && tag.format === "TIME")),
  );
  return [WHOLE_NUMBERS_OF_GO, ...kept];
}

function syntaxMessage(message: string): string {
  const first = message.split("\n")[0] ?? message;
  if (first.includes("call stack")) return TOO_DEEP;
  return `not valid YAML or JSON: ${first}`;
}
