/**
 * Lines that an edit replaces and that could not be written again exactly (comments, quoting) stay in the manifest as
 * a comment above the new ones, so that taking the edit back restores them byte for byte.
 */
import { lineStart } from "./layout.ts";

const MARK = "# lastcall keeps:";

/**
 * @param column indentation of the lines' key; every line must be indented as far or be empty.
 * @returns the comment with a final line break, or `undefined` where the lines cannot be kept this way.
 */
export function writeKeepsake(lines: string, column: number, eol: string): string | undefined {
  const indent = " ".repeat(column);
  const kept: string[] = [];
  for (const line of lines.split(eol)) {
    if (/[\r\n]/.test(line)) return undefined;
    if (line === "") kept.push(`${indent}${MARK}`);
    else if (line.startsWith(indent)) kept.push(`${indent}${MARK} ${line.slice(column)}`);
    else return undefined;
  }
  return kept.map((line) => line + eol).join("");
}

export type Keepsake = {
  /** Start of the comment's first line. */
  readonly start: number;
  /** The lines as they were, with their indentation, without the last line break. */
  readonly lines: string;
};

/** The comment that ends on the line directly above `offset`, a line's first character. */
export function readKeepsake(text: string, offset: number): Keepsake | undefined {
  const kept: string[] = [];
  let start = offset;
  while (start > 0) {
    const above = lineStart(text, start - 1);
    const match = /^( *)# lastcall keeps:(?: (.*?))?(\r?\n)$/.exec(text.slice(above, start));
    if (match === null) break;
    const line = match[2] === undefined ? "" : (match[1] ?? "") + match[2];
    kept.unshift(kept.length === 0 ? line : line + (match[3] ?? ""));
    start = above;
  }
  return kept.length === 0 ? undefined : { start, lines: kept.join("") };
}
