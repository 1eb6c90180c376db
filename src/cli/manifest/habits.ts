/** Reads from a document how its author writes. */
import { isMap, isScalar, isSeq, type Pair } from "yaml";
import { columnOf, dashOf, keyStart } from "./layout.ts";
import type { Habits } from "./render.ts";

const USUAL_STEP = 2;

export function habitsOf(text: string, root: unknown): Habits {
  const found = { step: 0, listStep: -1 };
  measure(text, root, found);
  const json = isJson(root);
  return {
    eol: text.includes("\r\n") ? "\r\n" : "\n",
    step: found.step > 0 ? found.step : USUAL_STEP,
    listStep: Math.max(found.listStep, 0),
    json,
    jsonStep: json ? jsonStepOf(text, root) : "",
    gap: json ? gapOf(text, root) : " ",
  };
}

function isJson(root: unknown): boolean {
  if (!isMap(root) || root.flow !== true) return false;
  const first = (root.items as Pair[])[0];
  return first === undefined || (isScalar(first.key) && first.key.type === "QUOTE_DOUBLE");
}

/** The first nested mapping and the first list under a key decide. */
function measure(text: string, node: unknown, found: { step: number; listStep: number }): void {
  if (found.step > 0 && found.listStep >= 0) return;
  if (isSeq(node)) for (const item of node.items) measure(text, item, found);
  if (!isMap(node) || node.flow === true) return;
  for (const pair of node.items as Pair[]) {
    const column = columnOf(text, keyStart(pair));
    const { value } = pair;
    if (found.step === 0 && isMap(value) && value.flow !== true && value.items[0] !== undefined) {
      found.step = Math.max(0, columnOf(text, keyStart(value.items[0] as Pair)) - column);
    }
    if (found.listStep < 0 && isSeq(value) && value.flow !== true) {
      found.listStep = columnOf(text, dashOf(value, 0)) - column;
    }
    measure(text, value, found);
  }
}

function jsonStepOf(text: string, root: unknown): string {
  const first = isMap(root) ? (root.items as Pair[])[0] : undefined;
  if (first === undefined) return "  ";
  return /\n([ \t]+)$/.exec(text.slice(0, keyStart(first)))?.[1] ?? "  ";
}

function gapOf(text: string, root: unknown): string {
  const first = isMap(root) ? (root.items as Pair[])[0] : undefined;
  const key = first?.key;
  if (first === undefined || !isScalar(key)) return " ";
  return /^\s*:\S/.test(text.slice(key.range?.[1] ?? 0)) ? "" : " ";
}
