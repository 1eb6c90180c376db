/** Cells of a table: safe on a terminal, and cut where what tells them apart stays. */
import { printable } from "../printable.ts";

/** The beginning of a sentence says most. */
export function cutAtEnd(text: string, width: number): string {
  const letters = [...printable(text)];
  return letters.length <= width ? letters.join("") : `${letters.slice(0, Math.max(0, width - 1)).join("")}…`;
}

/** Names of Pods of one owner differ at their ends. */
export function cutInside(text: string, width: number): string {
  const letters = [...printable(text)];
  if (letters.length <= width) return letters.join("");
  const tail = Math.ceil((width - 1) / 2);
  return `${letters.slice(0, width - 1 - tail).join("")}…${letters.slice(letters.length - tail).join("")}`;
}

export function widthOf(text: string): number {
  return [...printable(text)].length;
}

export function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - [...text].length));
}
