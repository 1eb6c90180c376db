/** Whole lines in and out: the inverse of each other, byte for byte. */
import { eolAt, lineAfter, lineEnd, lineStart } from "./layout.ts";
import type { Habits } from "./render.ts";
import type { Work } from "./work.ts";

/** Adds whole lines below the line of `offset`. */
export function insertLines(work: Work, offset: number, render: (habits: Habits) => string): void {
  const at = lineEnd(work.text, offset);
  const eol = eolAt(work.text, at, work.habits.eol);
  work.splices.push({ start: at, end: at, insert: eol + render({ ...work.habits, eol }) });
}

/** Takes whole lines away, with the line break in front of them: exactly what {@link insertLines} has added. */
export function removeLines(work: Work, start: number, end: number): void {
  const from = lineStart(work.text, start);
  if (from === 0) work.splices.push({ start: 0, end: lineAfter(work.text, end), insert: "" });
  else
    work.splices.push({
      start: lineEnd(work.text, lineStart(work.text, from - 1)),
      end: lineEnd(work.text, end),
      insert: "",
    });
}

/** The last line above `offset` that says something: new first items go below it, above comments on the old first. */
export function lineAbove(text: string, offset: number): number {
  let at = lineStart(text, offset);
  while (at > 0) {
    at = lineStart(text, at - 1);
    if (!/^\s*(#|$)/.test(text.slice(at, lineEnd(text, at)))) return at;
  }
  return at;
}
