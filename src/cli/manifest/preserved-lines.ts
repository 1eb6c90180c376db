/**
 * Preserves lines as a comment above the lines that replace them, so that `uninject` restores comments and quotes byte
 * for byte.
 */
import { columnOf, lineStart } from "./lines.ts";

export const MARK = "# lastcall keeps";

/**
 * Lines left of `column`, which are blank lines with spaces and comments, get a mark of their own.
 *
 * @param column indentation of the lines' key
 * @returns the comment with a final line break, or `undefined` where line ends are mixed
 */
export function preservedLines(lines: string, column: number, eol: string): string | undefined {
  const indent = " ".repeat(column);
  const split = lines.split(eol);
  if (split.some((line) => /[\r\n]/.test(line))) return undefined;
  return split
    .map((line) => {
      if (line === "") return `${indent}${MARK}:${eol}`;
      return line.startsWith(indent)
        ? `${indent}${MARK}: ${line.slice(column)}${eol}`
        : `${indent}${MARK} exactly: ${line}${eol}`;
    })
    .join("");
}

type PreservedLines = {
  /** Start of the comment's first line. */
  readonly start: number;
  /** The lines as they were, with their indentation, without the last line break. */
  readonly lines: string;
};

/** Reads the comment that ends on the line above the line of `offset`. */
export function readPreservedLines(text: string, offset: number): PreservedLines | undefined {
  const lines: string[] = [];
  let start = offset - columnOf(text, offset);
  while (start > 0) {
    const above = lineStart(text, start - 1);
    const match = /^( *)# lastcall keeps( exactly)?:(?: (.*?))?(\r?\n)$/.exec(text.slice(above, start));
    if (match === null) break;
    const [, indent = "", exactly, content, eol = ""] = match;
    const line = content === undefined || exactly !== undefined ? (content ?? "") : indent + content;
    lines.unshift(lines.length === 0 ? line : line + eol);
    start = above;
  }
  return lines.length === 0 ? undefined : { start, lines: lines.join("") };
}
