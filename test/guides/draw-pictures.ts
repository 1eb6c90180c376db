/**
 * Draws the pictures of the guides from recorded drains: `node test/guides/draw-pictures.ts FOLDER…` searches the folders and
 * their subfolders for files `GUIDE.drain.json`, which `npm run e2e` writes to `build/e2e`, and writes `docs/guides/GUIDE.svg`
 * from the latest drain of each guide. A guide without a recorded drain keeps its picture.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { DrainRecord } from "../../src/drain-history/drain-record.ts";
import { timelineSvg } from "../../src/drain-history/timeline-svg.ts";
import { GUIDE_NAMES, picturePath } from "./manifests.ts";

const DRAIN_FILE_SUFFIX = ".drain.json";
const EXIT_USAGE = 64;

// The reader of the output, such as head, may close the pipe early.
process.stdout.on("error", () => {});
const folders = process.argv.slice(2);
if (folders.length === 0) {
  process.stderr.write("usage: node test/guides/draw-pictures.ts FOLDER...\n");
  process.exit(EXIT_USAGE);
}
const latestRecords = new Map<string, DrainRecord>();
for (const file of folders.flatMap(drainFiles)) {
  const guide = basename(file, DRAIN_FILE_SUFFIX);
  if (!GUIDE_NAMES.includes(guide))
    throw new Error(`${file}: docs/guides has no ${guide}.md; rename or delete the file`);
  const record: DrainRecord = JSON.parse(readFileSync(file, "utf8"));
  if (record.endedAtMs > (latestRecords.get(guide)?.endedAtMs ?? 0)) latestRecords.set(guide, record);
}
for (const [guide, record] of [...latestRecords].sort()) {
  writeFileSync(picturePath(guide), timelineSvg(record));
  process.stdout.write(`${guide}: ${record.namespace}/${record.pod}, ${record.report.outcome}\n`);
}
for (const guide of GUIDE_NAMES.filter((name) => !latestRecords.has(name)))
  process.stdout.write(`${guide}: no drain found\n`);

function drainFiles(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(DRAIN_FILE_SUFFIX)).map((name) => join(folder, name));
}
