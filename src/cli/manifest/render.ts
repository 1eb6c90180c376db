/** Writes values as text in the style of a document. */
import { isRawObject } from "../../kubernetes/raw-json.ts";
import { isList } from "./node-value.ts";
import type { YamlStyle } from "./yaml-style.ts";

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
