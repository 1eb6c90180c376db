/** Prepares text for a terminal: replaces unsafe characters, and aligns columns. Pure. */

export function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(/[\u007f-\u009f\p{Cf}\u2028\u2029]/gu, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

export function printable(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "?");
}

export function alignRows(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) =>
    row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join("  "),
  );
}
