/** Renders values in the style of a document. */
import { isMap, isScalar, type Pair } from "yaml";
import { isRawObject } from "../../kubernetes/raw-json.ts";
import { entriesOf, isBlock } from "./entries.ts";
import { columnOf } from "./lines.ts";
import { isList } from "./node-value.ts";

export type YamlStyle = {
  readonly eol: string;
  readonly step: number;
  /** Columns from a key to the dashes of its list: 0 or `step`. */
  readonly listStep: number;
  readonly json: boolean;
  /** Indentation of multi-line JSON; `undefined` for YAML and single-line JSON. */
  readonly jsonStep: string | undefined;
  /** White space after a comma, and in JSON after a colon. */
  readonly gap: string;
};

export function styleOf(text: string, root: unknown): YamlStyle {
  const steps: DetectedSteps = {};
  detectSteps(text, root, steps);
  return {
    eol: text.includes("\r\n") ? "\r\n" : "\n",
    step: Math.max(steps.step ?? 0, 0) || 2,
    listStep: Math.max(steps.listStep ?? 0, 0),
    ...(isMap(root) && root.flow === true ? jsonStyleOf(text, root.items[0]) : NOT_JSON),
  };
}

type DetectedSteps = { step?: number; listStep?: number };

function detectSteps(text: string, node: unknown, steps: DetectedSteps): void {
  if (!isBlock(node) || (steps.step !== undefined && steps.listStep !== undefined)) return;
  for (const { start, node: value } of entriesOf(text, node) ?? []) {
    const firstEntry = isBlock(value) ? entriesOf(text, value)?.[0] : undefined;
    if (isMap(node) && firstEntry !== undefined)
      steps[isMap(value) ? "step" : "listStep"] ??= columnOf(text, firstEntry.start) - columnOf(text, start);
    detectSteps(text, value, steps);
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

export function renderAfterColon(value: unknown, column: number, style: YamlStyle): string {
  const nestedColumn = isRawObject(value) ? column + style.step : column + style.listStep;
  const lines = renderLines(value, nestedColumn, style);
  if (lines !== undefined) return style.eol + lines;
  return value === null ? "" : ` ${renderScalar(value, false)}`;
}

/** `key: value` with all lines below; the first line is not indented. */
export function renderPair(key: string, value: unknown, column: number, style: YamlStyle): string {
  const valueText = value === null ? " null" : renderAfterColon(value, column, style);
  return `${renderScalar(key, false)}:${valueText}`;
}

/** `- item` with all lines below; the first line is not indented. */
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

/** @param indent of the current line, for multi-line JSON; `undefined` renders the value on one line */
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
  const keyText = style.json ? JSON.stringify(key) : renderScalar(key, true);
  return `${keyText}:${style.json ? style.gap : " "}${renderFlow(value, style, indent)}`;
}

/** The text has the same value in YAML 1.1 and 1.2. */
export function renderScalar(value: unknown, inFlow: boolean): string {
  if (isRawObject(value)) return "{}";
  if (isList(value)) return "[]";
  if (typeof value !== "string") return value === null || value === undefined ? "null" : String(value);
  if ((inFlow ? SAFE_IN_FLOW : SAFE_IN_BLOCK).test(value) && !RESERVED_WORDS.test(value)) return value;
  if (/^[\x20-\x7e]*$/.test(value)) return `'${value.replaceAll("'", "''")}'`;
  return JSON.stringify(value).replace(UNPRINTABLE, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const SAFE_IN_BLOCK = /^(--)?[A-Za-z/]([A-Za-z0-9_./@:=,+-]*[A-Za-z0-9_/])?$/;
const SAFE_IN_FLOW = /^(--)?[A-Za-z/]([A-Za-z0-9_./@=+-]*[A-Za-z0-9_/])?$/;
const RESERVED_WORDS = /^(y|n|yes|no|on|off|true|false|null)$/i;
const UNPRINTABLE = /[\x7f-\x9f\u2028\u2029\ufeff]/g;
