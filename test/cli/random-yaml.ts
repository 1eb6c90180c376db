/** Generates YAML with random indentation, quotes, flow style, comments and blank lines. */
import { isRawObject } from "../../src/kubernetes/raw-json.ts";

export type YamlStyle = {
  /** Columns per level, 1 to 8. */
  readonly step: number;
  /** Whether dashes are indented one step from their key, or not at all. */
  readonly hasIndentedDashes: boolean;
  readonly eol: "\n" | "\r\n";
  readonly hasFinalEol: boolean;
  /** Numbers from 0 to 99. Each choice uses the next number; the first number follows the last. */
  readonly choices: readonly number[];
};

export function writeYaml(value: unknown, style: YamlStyle): string {
  let choiceIndex = 0;
  const choose = (percent: number): boolean => {
    const number = style.choices[choiceIndex % style.choices.length] ?? 0;
    choiceIndex += 1;
    return number < percent;
  };
  const context: WriteContext = { style, choose };
  const text = linesOf(value, 0, context).join(style.eol);
  return style.hasFinalEol ? text + style.eol : text;
}

type WriteContext = { readonly style: YamlStyle; readonly choose: (percent: number) => boolean };

function linesOf(value: unknown, column: number, context: WriteContext): string[] {
  const indent = " ".repeat(column);
  if (isRawObject(value)) {
    return Object.entries(value).flatMap(([key, item]) => {
      const [first = "", ...below] = mappingEntryLines(key, item, column, context);
      return [...createFillerLines(column, context), indent + first, ...below];
    });
  }
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  return items.flatMap((item) => [...createFillerLines(column, context), ...listItemLines(item, column, context)]);
}

function createFillerLines(column: number, context: WriteContext): string[] {
  const filler: string[] = [];
  const comment = context.choose(30) ? "lastcall: a note" : "why: {x}";
  if (context.choose(12)) filler.push(`${" ".repeat(context.choose(50) ? column : 0)}# ${comment}`);
  if (context.choose(8)) filler.push(context.choose(30) ? "   " : "");
  return filler;
}

function listItemLines(item: unknown, column: number, context: WriteContext): string[] {
  const indent = " ".repeat(column);
  const gap = context.choose(15) ? "   " : " ";
  if (!isBlock(item)) return [`${indent}-${gap}${inlineTextOf(item, context)}${createLineTail(context)}`];
  const itemLines = linesOf(item, column + 1 + gap.length, context);
  // Comments above the first key would move the key off the dash's line.
  while (/^\s*(#|$)/.test(itemLines[0] ?? "x")) itemLines.shift();
  return [`${indent}-${gap}${(itemLines[0] ?? "").trimStart()}`, ...itemLines.slice(1)];
}

function mappingEntryLines(key: string, value: unknown, column: number, context: WriteContext): string[] {
  const name = context.choose(10) ? JSON.stringify(key) : key;
  if (!isBlock(value) || context.choose(15))
    return [`${name}:${context.choose(15) ? "  " : " "}${inlineTextOf(value, context)}${createLineTail(context)}`];
  const childColumn = Array.isArray(value) && !context.style.hasIndentedDashes ? column : column + context.style.step;
  return [`${name}:${createLineTail(context)}`, ...linesOf(value, childColumn, context)];
}

function isBlock(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : isRawObject(value) && Object.keys(value).length > 0;
}

function createLineTail(context: WriteContext): string {
  return `${context.choose(10) ? "  " : ""}${context.choose(12) ? " # note" : ""}`;
}

function inlineTextOf(value: unknown, context: WriteContext): string {
  const space = context.choose(25) ? " " : "";
  const comma = context.choose(30) ? " , " : ", ";
  if (isRawObject(value)) {
    const pairs = Object.entries(value).map(([key, item]) => `${key}: ${inlineTextOf(item, context)}`);
    return `{${space}${pairs.join(comma)}${pairs.length > 0 && context.choose(15) ? "," : ""}${space}}`;
  }
  if (Array.isArray(value)) return `[${space}${value.map((item) => inlineTextOf(item, context)).join(comma)}${space}]`;
  if (typeof value !== "string") return value === null && context.choose(50) ? "~" : String(value);
  if (context.choose(30)) return JSON.stringify(value);
  return context.choose(30) || !/^[a-z][a-z0-9/.]*$/.test(value) || /^(y|n|yes|no|on|off|true|false|null)$/.test(value)
    ? `'${value.replaceAll("'", "''")}'`
    : value;
}
