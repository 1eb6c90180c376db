/**
 * Preserves lines as a comment above the lines that replace them, so that `uninject` restores comments and quotes byte
 * for byte.
 */
import { columnOf, lineStart } from "./lines.ts";

export const MARK = "# lastcall keeps";

/**
 * Converts lines into a YAML comment that preserves them byte for byte. Lines with less indentation than `column`, such as comments and
 * lines of spaces, get the mark `# lastcall keeps exactly`.
 *
 * @param column indentation of the lines' key
 * @returns the YAML comment with a final line break, or `undefined` for mixed line endings
 */
export function preservingComment(lines: string, column: number, eol: string): string | undefined {
  const indent = " ".repeat(column);
  const splitLines = lines.split(eol);
  if (splitLines.some((line) => /[\r\n]/.test(line))) return undefined;
  return splitLines
    .map((line) => {
      if (line === "") return `${indent}${MARK}:${eol}`;
      return line.startsWith(indent)
        ? `${indent}${MARK}: ${line.slice(column)}${eol}`
        : `${indent}${MARK} exactly: ${line}${eol}`;
    })
    .join("");
}

type PreservedLines = {
  readonly start: number;
  readonly lines: string;
};

export function readPreservedLines(text: string, offset: number): PreservedLines | undefined {
  const lines: string[] = [];
  let start = offset - columnOf(text, offset);
  while (start > 0) {
    const commentStart = lineStart(text, start - 1);
    const match = /^( *)# lastcall keeps( exactly)?:(?: (.*?))?(\r?\n)$/.exec(text.slice(commentStart, start));
    if (match === null) break;
    const [, indent = "", exactly, content, eol = ""] = match;
    const line = content === undefined || exactly !== undefined ? (content ?? "") : indent + content;
    lines.unshift(lines.length === 0 ? line : line + eol);
    start = commentStart;
  }
  return lines.length === 0 ? undefined : { start, lines: lines.join("") };
}
