/** Keeps the lines of a pair or item that are about to be replaced, and puts them back. */
import { readKeepsake, writeKeepsake } from "./keepsake.ts";
import { columnOf, eolAt, lineEnd, lineStart, startsItsLine } from "./layout.ts";
import { parseManifest } from "./parse.ts";
import type { Splice } from "./splice.ts";
import type { Work } from "./work.ts";

/** From a key or dash to the end of what it says. */
export type Extent = { readonly start: number; readonly end: number };

/** The comment to put above, or nothing where lines cannot be kept or were kept before. */
export function keepLines(work: Work, { start, end }: Extent): readonly Splice[] {
  if (!work.keep || !startsItsLine(work.text, start)) return [];
  const from = lineStart(work.text, start);
  // What an earlier pass kept is the author's own; what stands below it is ours and needs no memory.
  if (readKeepsake(work.text, from) !== undefined) return [];
  const eol = eolAt(work.text, lineEnd(work.text, from), work.habits.eol);
  const comment = writeKeepsake(work.text.slice(from, end), columnOf(work.text, start), eol);
  return comment === undefined ? [] : [{ start: from, end: from, insert: comment }];
}

/**
 * @param means whether the kept lines, read alone, mean what is wanted
 * @returns whether they were put back
 */
export function restoreLines(work: Work, { start, end }: Extent, means: (value: unknown) => boolean): boolean {
  if (work.restore === "nothing" || !startsItsLine(work.text, start)) return false;
  const kept = readKeepsake(work.text, lineStart(work.text, start));
  if (kept === undefined) return false;
  const [document] = parseManifest(kept.lines).documents;
  // Lines with an alias mean nothing alone; the comparison after all edits decides about them.
  const wanted = document === undefined ? kept.lines.includes("*") : means(document.value);
  if (wanted) work.splices.push({ start: kept.start, end, insert: kept.lines });
  return wanted;
}
