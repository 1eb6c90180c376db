/** Reads the style of a document, so that new text looks like the text around it. */
import { isMap, isScalar, type Pair } from "yaml";
import { entriesOf, isBlock } from "./entries.ts";
import { columnOf } from "./lines.ts";

export type YamlStyle = {
  readonly eol: string;
  /** Columns from a key to the keys below it. */
  readonly step: number;
  /** Columns from a key to the dashes of its list: 0 or `step`. */
  readonly listStep: number;
  /** JSON has keys and strings in double quotes. */
  readonly json: boolean;
  /** One nesting step of JSON over several lines, or `undefined` for one line. */
  readonly jsonStep: string | undefined;
  /** White space behind a comma, and in JSON behind a colon. */
  readonly gap: string;
};

export function styleOf(text: string, root: unknown): YamlStyle {
  const found: Found = {};
  measure(text, root, found);
  return {
    eol: text.includes("\r\n") ? "\r\n" : "\n",
    step: Math.max(found.step ?? 0, 0) || 2,
    listStep: Math.max(found.listStep ?? 0, 0),
    ...(isMap(root) && root.flow === true ? jsonStyleOf(text, root.items[0]) : NOT_JSON),
  };
}

type Found = { step?: number; listStep?: number };

/** The first nested mapping and the first list under a key decide. */
function measure(text: string, node: unknown, found: Found): void {
  if (!isBlock(node) || (found.step !== undefined && found.listStep !== undefined)) return;
  for (const { start, node: value } of entriesOf(text, node) ?? []) {
    const below = isBlock(value) ? entriesOf(text, value)?.[0] : undefined;
    if (isMap(node) && below !== undefined)
      found[isMap(value) ? "step" : "listStep"] ??= columnOf(text, below.start) - columnOf(text, start);
    measure(text, value, found);
  }
}

type JsonStyle = Pick<YamlStyle, "json" | "jsonStep" | "gap">;

const NOT_JSON: JsonStyle = { json: false, jsonStep: undefined, gap: " " };

function jsonStyleOf(text: string, first: Pair | undefined): JsonStyle {
  const key = first?.key;
  if (first !== undefined && !(isScalar(key) && key.type === "QUOTE_DOUBLE")) return NOT_JSON;
  const [start, end] = (isScalar(key) && key.range) || [0, 0];
  const step = /\n([ \t]+)$/.exec(text.slice(0, start))?.[1] ?? "  ";
  const isOneLine = !/\n\s*\S/.test(text.trim());
  return { json: true, jsonStep: isOneLine ? undefined : step, gap: /^\s*:\S/.test(text.slice(end)) ? "" : " " };
}
