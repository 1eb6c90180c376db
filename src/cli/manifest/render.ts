/** Writes values as text in the style of a document. */
import { isMap, isScalar, type Pair } from "yaml";
import { isRawObject } from "../../kubernetes/raw-json.ts";
import { entriesOf, isBlock } from "./entries.ts";
import { columnOf } from "./lines.ts";
import { isList } from "./node-value.ts";

/** Reads the style of a document, so that new text looks like the text around it. */
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

/** What follows a key's colon at column `column`: a space and a scalar, or lines of their own. */
export function renderAfterColon(value: unknown, column: number, style: YamlStyle): string {
  const nested = isRawObject(value) ? column + style.step : column + style.listStep;
  const lines = renderLines(value, nested, style);
  if (lines !== undefined) return style.eol + lines;
  return value === null ? "" : ` ${renderScalar(value, false)}`;
}

/** `key: value` with everything below it; the first line carries no indentation. */
export function renderPair(key: string, value: unknown, column: number, style: YamlStyle): string {
  const after = value === null ? " null" : renderAfterColon(value, column, style);
  return `${renderScalar(key, false)}:${after}`;
}

/** `- item` with everything below it; the first line carries no indentation. */
export function renderItem(value: unknown, column: number, style: YamlStyle): string {
  const lines = renderLines(value, column + 2, style);
  return `- ${lines === undefined ? renderScalar(value, false) : lines.slice(column + 2)}`;
}

function renderLines(value: unknown, column: number, style: YamlStyle): string | undefined {
  const indent = " ".repeat(column);
  if (isRawObject(value) && Object.keys(value).length > 0) {
    return Object.entries(value)
      .map(([key, item]) => indent + renderPair(key, item, column, style))
      .join(style.eol);
  }
  if (isList(value) && value.length > 0) {
    return value.map((item) => indent + renderItem(item, column, style)).join(style.eol);
  }
  return undefined;
}

/** One line in braces and brackets, or JSON over several lines when `indent` (the line's own) is given. */
export function renderFlow(value: unknown, style: YamlStyle, indent?: string): string {
  if (style.jsonStep !== undefined && indent !== undefined) {
    return JSON.stringify(value, null, style.jsonStep)
      .split("\n")
      .join(style.eol + indent);
  }
  if (isRawObject(value)) {
    const pairs = Object.entries(value).map(([key, item]) => renderFlowPair(key, item, style));
    return `{${pairs.join(`,${style.gap}`)}}`;
  }
  if (isList(value)) return `[${value.map((item) => renderFlow(item, style)).join(`,${style.gap}`)}]`;
  return style.json ? JSON.stringify(value) : renderScalar(value, true);
}

export function renderFlowPair(key: string, value: unknown, style: YamlStyle, indent?: string): string {
  const name = style.json ? JSON.stringify(key) : renderScalar(key, true);
  return `${name}:${style.json ? style.gap : " "}${renderFlow(value, style, indent)}`;
}

/** Text that YAML 1.1 and 1.2 both read back as the same value. */
export function renderScalar(value: unknown, inFlow: boolean): string {
  if (isRawObject(value)) return "{}";
  if (isList(value)) return "[]";
  if (typeof value !== "string") return value === null || value === undefined ? "null" : String(value);
  if ((inFlow ? SAFE_IN_FLOW : SAFE_IN_BLOCK).test(value) && !WORDS_WITH_MEANING.test(value)) return value;
  if (/^[\x20-\x7e]*$/.test(value)) return `'${value.replaceAll("'", "''")}'`;
  return JSON.stringify(value).replace(UNPRINTABLE, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const SAFE_IN_BLOCK = /^(--)?[A-Za-z/]([A-Za-z0-9_./@:=,+-]*[A-Za-z0-9_/])?$/;
const SAFE_IN_FLOW = /^(--)?[A-Za-z/]([A-Za-z0-9_./@=+-]*[A-Za-z0-9_/])?$/;
const WORDS_WITH_MEANING = /^(y|n|yes|no|on|off|true|false|null)$/i;
const UNPRINTABLE = /[\x7f-\x9f\u2028\u2029\ufeff]/g;
