/** Generates YAML with random indentation, quotes, flow style, comments and blank lines. */
import { isRawObject } from "../../src/kubernetes/raw-json.ts";

export type YamlStyle = {
  /** Columns per level, 1 to 8. */
  readonly step: number;
  /** Whether dashes stand below their key's first letter or one step in. */
  readonly dashesIn: boolean;
  readonly eol: "\n" | "\r\n";
  readonly lastEol: boolean;
  /** Numbers from 0 to 99, read in turn for every small choice. */
  readonly whims: readonly number[];
};

export function write(value: unknown, hand: YamlStyle): string {
  let turn = 0;
  const whim = (chance: number): boolean => {
    const number = hand.whims[turn % hand.whims.length] ?? 0;
    turn += 1;
    return number < chance;
  };
  const pen: Pen = { hand, whim };
  const text = lines(value, 0, pen).join(hand.eol);
  return hand.lastEol ? text + hand.eol : text;
}

type Pen = { readonly hand: YamlStyle; readonly whim: (chance: number) => boolean };

function lines(value: unknown, column: number, pen: Pen): string[] {
  const indent = " ".repeat(column);
  if (isRawObject(value)) {
    return Object.entries(value).flatMap(([key, item]) => {
      const [first = "", ...below] = pair(key, item, column, pen);
      return [...pause(column, pen), indent + first, ...below];
    });
  }
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  return items.flatMap((item) => [...pause(column, pen), ...dashed(item, column, pen)]);
}

function pause(column: number, pen: Pen): string[] {
  const written: string[] = [];
  const note = pen.whim(30) ? "lastcall: a note" : "why: {x}";
  if (pen.whim(12)) written.push(`${" ".repeat(pen.whim(50) ? column : 0)}# ${note}`);
  if (pen.whim(8)) written.push(pen.whim(30) ? "   " : "");
  return written;
}

function dashed(item: unknown, column: number, pen: Pen): string[] {
  const indent = " ".repeat(column);
  const gap = pen.whim(15) ? "   " : " ";
  if (!isBlock(item)) return [`${indent}-${gap}${inline(item, pen)}${tail(pen)}`];
  const inner = lines(item, column + 1 + gap.length, pen);
  // Comments above the first key would move the key off the dash's line.
  while (/^\s*(#|$)/.test(inner[0] ?? "x")) inner.shift();
  return [`${indent}-${gap}${(inner[0] ?? "").trimStart()}`, ...inner.slice(1)];
}

function pair(key: string, value: unknown, column: number, pen: Pen): string[] {
  const name = pen.whim(10) ? JSON.stringify(key) : key;
  if (!isBlock(value) || pen.whim(15)) return [`${name}:${pen.whim(15) ? "  " : " "}${inline(value, pen)}${tail(pen)}`];
  const below = Array.isArray(value) && !pen.hand.dashesIn ? column : column + pen.hand.step;
  return [`${name}:${tail(pen)}`, ...lines(value, below, pen)];
}

function isBlock(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : isRawObject(value) && Object.keys(value).length > 0;
}

function tail(pen: Pen): string {
  return `${pen.whim(10) ? "  " : ""}${pen.whim(12) ? " # note" : ""}`;
}

function inline(value: unknown, pen: Pen): string {
  const space = pen.whim(25) ? " " : "";
  const comma = pen.whim(30) ? " , " : ", ";
  if (isRawObject(value)) {
    const pairs = Object.entries(value).map(([key, item]) => `${key}: ${inline(item, pen)}`);
    return `{${space}${pairs.join(comma)}${pairs.length > 0 && pen.whim(15) ? "," : ""}${space}}`;
  }
  if (Array.isArray(value)) return `[${space}${value.map((item) => inline(item, pen)).join(comma)}${space}]`;
  if (typeof value !== "string") return value === null && pen.whim(50) ? "~" : String(value);
  if (pen.whim(30)) return JSON.stringify(value);
  return pen.whim(30) || !/^[a-z][a-z0-9/.]*$/.test(value) || /^(y|n|yes|no|on|off|true|false|null)$/.test(value)
    ? `'${value.replaceAll("'", "''")}'`
    : value;
}
