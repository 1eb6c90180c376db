/** Edits flow collections of YAML and JSON. */
import type { Range } from "yaml";
import type { Entry } from "./entries.ts";
import type { Insert, ItemStep } from "./item-steps.ts";
import { lineStart, type Splice } from "./lines.ts";
import { renderFlow, renderFlowPair, type YamlStyle } from "./render.ts";

type FlowEditContext = { readonly text: string; readonly style: YamlStyle; readonly splices: Splice[] };

/** A removal exactly reverts an insertion at the same place. */
export function editFlow(
  work: FlowEditContext,
  range: Range,
  entries: readonly Entry[],
  steps: readonly ItemStep[],
  editEntry: (entry: Entry, value: unknown) => boolean,
): boolean {
  const removed: Entry[] = [];
  const inserts: Insert[] = [];
  for (const step of steps) {
    const entry = entries[step.at];
    if (step.kind === "insert") inserts.push(step);
    else if (entry === undefined) return false;
    else if (step.kind === "remove") removed.push(entry);
    else if (!editEntry(entry, step.value)) replaceValue(work, entry, step.value);
  }
  const [first] = entries;
  if (first === undefined) {
    if (inserts.length > 0) work.splices.push(filled(work, range[0], inserts));
    return true;
  }
  if (removed.length === entries.length) {
    work.splices.push(emptied(work, range, entries));
    return inserts.length === 0;
  }
  removeEntries(work, entries, removed);
  work.splices.push(...inserts.map((insert) => insertion(work, insert, first, entries[insert.at])));
  return true;
}

function replaceValue(work: FlowEditContext, { valueStart, end }: Entry, value: unknown): void {
  const insert = renderFlow(value, work.style, indentAt(work, valueStart));
  work.splices.push({ start: valueStart, end, insert });
}

/** Removes the comma before an entry or, for the first ones, the comma after it. */
function removeEntries(work: FlowEditContext, entries: readonly Entry[], removed: readonly Entry[]): void {
  const firstKept = entries.findIndex((entry) => !removed.includes(entry));
  for (const entry of removed) {
    const index = entries.indexOf(entry);
    const before = entries[index - 1];
    const next = entries[index + 1];
    if (index > firstKept && before !== undefined) work.splices.push({ start: before.end, end: entry.end, insert: "" });
    else if (next !== undefined) work.splices.push({ start: entry.start, end: next.start, insert: "" });
  }
}

function emptied(work: FlowEditContext, range: Range, entries: readonly Entry[]): Splice {
  const start = range[0] + 1;
  const isOverLines = work.text.slice(start, entries[0]?.start).includes("\n");
  return { start, end: isOverLines ? range[1] - 1 : (entries.at(-1)?.end ?? start), insert: "" };
}

function filled(work: FlowEditContext, open: number, inserts: readonly Insert[]): Splice {
  const { style } = work;
  const outer = indentAt(work, open);
  const inner = outer === undefined ? undefined : outer + style.jsonStep;
  const gap = inner === undefined ? style.gap : style.eol + inner;
  const text = inserts.map((insert) => render(insert, style, inner)).join(`,${gap}`);
  const insert = inner === undefined ? text : gap + text + style.eol + outer;
  return { start: open + 1, end: open + 1, insert };
}

function insertion(work: FlowEditContext, insert: Insert, first: Entry, behind: Entry | undefined): Splice {
  const { text, style } = work;
  // In multi-line JSON a new entry gets a line of its own if the first entry has one.
  const before = text.slice(lineStart(text, first.start), first.start);
  const indent = style.json && first.start > 0 && /^[ \t]*$/.test(before) ? before : undefined;
  const gap = indent === undefined ? style.gap : style.eol + indent;
  const rendered = render(insert, style, indent);
  const at = behind?.end ?? first.start;
  return { start: at, end: at, insert: behind === undefined ? `${rendered},${gap}` : `,${gap}${rendered}` };
}

function render({ key, value }: Insert, style: YamlStyle, indent: string | undefined): string {
  return key === undefined ? renderFlow(value, style, indent) : renderFlowPair(key, value, style, indent);
}

function indentAt({ text, style }: FlowEditContext, offset: number): string | undefined {
  if (style.jsonStep === undefined) return undefined;
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset), offset))?.[0] ?? "";
}
