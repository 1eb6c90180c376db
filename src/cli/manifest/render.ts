/** Plain data to text, in the habits of the document it goes into. */
import { isRawObject } from "../../kubernetes/raw-json.ts";
import { isList } from "./plain-value.ts";

/** How the document around is written; found once per document so that new text looks like the old. */
export type Habits = {
  readonly eol: string;
  /** Columns from a key to the keys below it. */
  readonly step: number;
  /** Columns from a key to the dashes of its list: 0 or `step`. */
  readonly listStep: number;
  /** JSON: keys and text in double quotes, one nesting step as text, and what follows a comma or colon. */
  readonly json: boolean;
  readonly jsonStep: string;
  readonly gap: string;
};

/** What follows a key's colon at column `column`: a space and a scalar, or lines of their own. */
export function renderAfterColon(value: unknown, column: number, habits: Habits): string {
  const nested = isRawObject(value) ? column + habits.step : column + habits.listStep;
  const lines = renderLines(value, nested, habits);
  if (lines !== undefined) return habits.eol + lines;
  return value === null ? "" : ` ${renderScalar(value, false)}`;
}

/** `key: value` with everything below it; the first line carries no indentation. */
export function renderPair(key: string, value: unknown, column: number, habits: Habits): string {
  const after = value === null ? " null" : renderAfterColon(value, column, habits);
  return `${renderScalar(key, false)}:${after}`;
}

/** `- item` with everything below it; the first line carries no indentation. */
export function renderItem(value: unknown, column: number, habits: Habits): string {
  const lines = renderLines(value, column + 2, habits);
  return `- ${lines === undefined ? renderScalar(value, false) : lines.slice(column + 2)}`;
}

function renderLines(value: unknown, column: number, habits: Habits): string | undefined {
  const indent = " ".repeat(column);
  if (isRawObject(value) && Object.keys(value).length > 0) {
    return Object.entries(value)
      .map(([key, item]) => indent + renderPair(key, item, column, habits))
      .join(habits.eol);
  }
  if (isList(value) && value.length > 0) {
    return value.map((item) => indent + renderItem(item, column, habits)).join(habits.eol);
  }
  return undefined;
}

/** One line in braces and brackets, or JSON over several lines when `indent` (the line's own) is given. */
export function renderFlow(value: unknown, habits: Habits, indent?: string): string {
  if (habits.json && indent !== undefined) {
    return JSON.stringify(value, null, habits.jsonStep)
      .split("\n")
      .join(habits.eol + indent);
  }
  if (isRawObject(value)) {
    const pairs = Object.entries(value).map(([key, item]) => renderFlowPair(key, item, habits));
    return `{${pairs.join(`,${habits.gap}`)}}`;
  }
  if (isList(value)) return `[${value.map((item) => renderFlow(item, habits)).join(`,${habits.gap}`)}]`;
  return habits.json ? JSON.stringify(value) : renderScalar(value, true);
}

export function renderFlowPair(key: string, value: unknown, habits: Habits, indent?: string): string {
  const name = habits.json ? JSON.stringify(key) : renderScalar(key, true);
  return `${name}:${habits.json ? habits.gap : " "}${renderFlow(value, habits, indent)}`;
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
