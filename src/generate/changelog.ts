/** The changelog's unreleased part: one entry per file of `changes`, in the form of Keep a Changelog. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "../../changes");

/** Nothing is released yet, so nothing was changed or removed: all of it is new to a reader. */
export function unreleasedChanges(): string {
  const entries = readdirSync(FOLDER)
    .filter((file) => file.endsWith(".md"))
    .sort()
    .map(
      (file) =>
        `- ${readFileSync(join(FOLDER, file), "utf8")
          .trim()
          .replace(/\s*\n\s*/g, " ")}`,
    );
  return ["", ...entries, ""].join("\n");
}
