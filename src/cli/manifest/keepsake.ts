/**
 * Lines that an edit replaces and that could not be written again exactly (comments, quoting) stay in the manifest as
 * a comment above the new ones, so that taking the edit back restores them byte for byte.
 */
import { lineStart } from "./layout.ts";

const MARK = "# lastcall keeps:";
/** For lines that stand left of their key: blank ones with spaces, comments. */
const EXACT_MARK = "# lastcall keeps exactly:";

/**
 * @param column indentation of the lines' key
 * @returns the comment with a final line break, or `undefined` where line ends are mixed and could not be told apart
 */
export function writeKeepsake(lines: string, column: number, eol: string): string | undefined {
  const indent = " ".repeat(column);
  const kept: string[] = [];
  for (const line of lines.split(eol)) {
    if (/[\r\n]/.test(line)) return undefined;
    if (line === "") kept.push(indent + MARK);
    else if (line.startsWith(indent)) kept.push(`${indent}${MARK} ${line.slice(column)}`);
    else kept.push(`${indent}${EXACT_MARK} ${line}`);
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
    const match = /^( *)# lastcall keeps( exactly)?:(?: (.*?))?(\r?\n)$/.exec(text.slice(above, start));
    if (match === null) break;
    const [, indent = "", exactly, content, eol = ""] = match;
    const line = content === undefined || exactly !== undefined ? (content ?? "") : indent + content;
    kept.unshift(kept.length === 0 ? line : line + eol);
    start = above;
  }
  return kept.length === 0 ? undefined : { start, lines: kept.join("") };
}
