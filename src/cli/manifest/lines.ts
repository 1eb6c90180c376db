/** Finds lines in a text, and replaces ranges of it. */

export type Splice = {
  /** Half-open range of UTF-16 offsets in the text as read. */
  readonly start: number;
  readonly end: number;
  readonly insert: string;
};

/** @returns the changed text, or `undefined` when two ranges overlap. Insertions at one place keep their order. */
export function applySplices(text: string, splices: readonly Splice[]): string | undefined {
  let result = "";
  let at = 0;
  for (const { start, end, insert } of [...splices].sort((a, b) => a.start - b.start || a.end - b.end)) {
    if (start < at) return undefined;
    result += text.slice(at, start) + insert;
    at = end;
  }
  return result + text.slice(at);
}

export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

export function lineEnd(text: string, offset: number): number {
  const lineFeedOffset = text.indexOf("\n", offset);
  const end = lineFeedOffset < 0 ? text.length : lineFeedOffset;
  return end > offset && text[end - 1] === "\r" ? end - 1 : end;
}

export function eolAt(text: string, offset: number, fallback: string): string {
  const end = lineEnd(text, offset);
  if (text.startsWith("\r\n", end)) return "\r\n";
  return text[end] === "\n" ? "\n" : fallback;
}

export function isFirstInLine(text: string, offset: number): boolean {
  return /^ *$/.test(text.slice(lineStart(text, offset), offset));
}

export function columnOf(text: string, offset: number): number {
  return offset - lineStart(text, offset);
}

/** Removes whole lines and the line break before them; at the start of the text, the line break after them. */
export function removedLines(text: string, start: number, end: number): Splice {
  const firstLineStart = lineStart(text, start);
  const lineFeedOffset = text.indexOf("\n", end);
  if (firstLineStart === 0) return { start: 0, end: lineFeedOffset < 0 ? text.length : lineFeedOffset + 1, insert: "" };
  return { start: lineEnd(text, lineStart(text, firstLineStart - 1)), end: lineEnd(text, end), insert: "" };
}

/** Returns the start of the last line above `offset` that is neither blank nor a comment; 0 if there is none. */
export function lineAbove(text: string, offset: number): number {
  let at = lineStart(text, offset);
  while (at > 0) {
    at = lineStart(text, at - 1);
    if (!/^\s*(#|$)/.test(text.slice(at, lineEnd(text, at)))) return at;
  }
  return at;
}
