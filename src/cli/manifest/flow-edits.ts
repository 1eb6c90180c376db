/** Edits flow collections of YAML and JSON. */
import type { Range } from "yaml";
import type { Entry } from "./entries.ts";
import type { Insert, ItemStep } from "./item-steps.ts";
import { lineStart, type Splice } from "./lines.ts";
import { renderFlow, renderFlowPair, type YamlStyle } from "./render.ts";

type FlowEditContext = { readonly text: string; readonly style: YamlStyle; readonly splices: Splice[] };

/** A removal exactly reverts an insertion at the same place. */
export function editFlow(
  context: FlowEditContext,
  range: Range,
  entries: readonly Entry[],
  steps: readonly ItemStep[],
  editEntry: (entry: Entry, value: unknown) => boolean,
): boolean {
  const removedEntries: Entry[] = [];
  const inserts: Insert[] = [];
  for (const step of steps) {
    const entry = entries[step.at];
    if (step.kind === "insert") inserts.push(step);
    else if (entry === undefined) return false;
    else if (step.kind === "remove") removedEntries.push(entry);
    else if (!editEntry(entry, step.value)) replaceValue(context, entry, step.value);
  }
  const [first] = entries;
  if (first === undefined) {
    if (inserts.length > 0) context.splices.push(fillCollection(context, range[0], inserts));
    return true;
  }
  if (removedEntries.length === entries.length) {
    context.splices.push(emptyCollection(context, range, entries));
    return inserts.length === 0;
  }
  removeEntries(context, entries, removedEntries);
  context.splices.push(...inserts.map((insert) => createInsertion(context, insert, first, entries[insert.at])));
  return true;
}

function replaceValue(context: FlowEditContext, { valueStart, end }: Entry, value: unknown): void {
  const insert = renderFlow(value, context.style, indentAt(context, valueStart));
  context.splices.push({ start: valueStart, end, insert });
}

/** Also removes the comma before an entry or, for entries at the start of the collection, the comma after it. */
function removeEntries(context: FlowEditContext, entries: readonly Entry[], removedEntries: readonly Entry[]): void {
  const firstKeptIndex = entries.findIndex((entry) => !removedEntries.includes(entry));
  for (const entry of removedEntries) {
    const index = entries.indexOf(entry);
    const previous = entries[index - 1];
    const next = entries[index + 1];
    if (index > firstKeptIndex && previous !== undefined)
      context.splices.push({ start: previous.end, end: entry.end, insert: "" });
    else if (next !== undefined) context.splices.push({ start: entry.start, end: next.start, insert: "" });
  }
}

function emptyCollection(context: FlowEditContext, range: Range, entries: readonly Entry[]): Splice {
  const start = range[0] + 1;
  const isMultiline = context.text.slice(start, entries[0]?.start).includes("\n");
  return { start, end: isMultiline ? range[1] - 1 : (entries.at(-1)?.end ?? start), insert: "" };
}

function fillCollection(context: FlowEditContext, bracketOffset: number, inserts: readonly Insert[]): Splice {
  const { style } = context;
  const outerIndent = indentAt(context, bracketOffset);
  const innerIndent = outerIndent === undefined ? undefined : outerIndent + style.jsonStep;
  const separator = innerIndent === undefined ? style.gap : style.eol + innerIndent;
  const text = inserts.map((insert) => renderInsert(insert, style, innerIndent)).join(`,${separator}`);
  const insert = innerIndent === undefined ? text : separator + text + style.eol + outerIndent;
  return { start: bracketOffset + 1, end: bracketOffset + 1, insert };
}

function createInsertion(context: FlowEditContext, insert: Insert, first: Entry, previous: Entry | undefined): Splice {
  const { text, style } = context;
  // In multi-line JSON a new entry gets a line of its own if the first entry has one.
  const leadingText = text.slice(lineStart(text, first.start), first.start);
  const indent = style.json && first.start > 0 && /^[ \t]*$/.test(leadingText) ? leadingText : undefined;
  const separator = indent === undefined ? style.gap : style.eol + indent;
  const renderedText = renderInsert(insert, style, indent);
  const at = previous?.end ?? first.start;
  return {
    start: at,
    end: at,
    insert: previous === undefined ? `${renderedText},${separator}` : `,${separator}${renderedText}`,
  };
}

function renderInsert({ key, value }: Insert, style: YamlStyle, indent: string | undefined): string {
  return key === undefined ? renderFlow(value, style, indent) : renderFlowPair(key, value, style, indent);
}

function indentAt({ text, style }: FlowEditContext, offset: number): string | undefined {
  if (style.jsonStep === undefined) return undefined;
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset), offset))?.[0] ?? "";
}
