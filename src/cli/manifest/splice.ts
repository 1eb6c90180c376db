/** Changes to a text as data. Everything outside the ranges stays as it is, byte for byte. */
export type Splice = {
  /** Half-open range of UTF-16 offsets in the text as read. */
  readonly start: number;
  readonly end: number;
  readonly insert: string;
};

/** @returns the changed text, or `undefined` when two ranges overlap. Insertions at one place keep their order. */
export function applySplices(text: string, splices: readonly Splice[]): string | undefined {
  const ordered = splices
    .map((splice, order) => ({ ...splice, order }))
    .sort((a, b) => a.start - b.start || a.end - b.end || a.order - b.order);
  let result = "";
  let at = 0;
  for (const { start, end, insert } of ordered) {
    if (start < at) return undefined;
    result += text.slice(at, start) + insert;
    at = end;
  }
  return result + text.slice(at);
}
