/**
 * Draws the pictures of the guides from recorded drains: `node test/guides/draw-pictures.ts FOLDER…` searches each folder
 * and below for `GUIDE.drain.json`, as `npm run e2e` leaves them in `build/e2e`, and writes `docs/guides/GUIDE.svg`.
 * Of several drains for one guide the latest is drawn. Guides without one keep the picture they have.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { DrainRecord } from "../../src/drain-history/drain-record.ts";
import { timelineSvg } from "../../src/drain-history/timeline-svg.ts";
import { GUIDE_NAMES, picturePath } from "./manifests.ts";

const SUFFIX = ".drain.json";
const USAGE = 64;

// The reader of the output may have enough of it.
process.stdout.on("error", () => {});
const folders = process.argv.slice(2);
if (folders.length === 0) {
  process.stderr.write("usage: node test/guides/draw-pictures.ts FOLDER...\n");
  process.exit(USAGE);
}
const latest = new Map<string, DrainRecord>();
for (const file of folders.flatMap(drainFiles)) {
  const guide = basename(file, SUFFIX);
  if (!GUIDE_NAMES.includes(guide)) throw new Error(`${file}: there is no guide ${guide}.`);
  const record: DrainRecord = JSON.parse(readFileSync(file, "utf8"));
  if (record.endedAtMs > (latest.get(guide)?.endedAtMs ?? 0)) latest.set(guide, record);
}
for (const [guide, record] of [...latest].sort()) {
  writeFileSync(picturePath(guide), timelineSvg(record));
  process.stdout.write(`${guide}: ${record.namespace}/${record.pod}, ${record.report.outcome}\n`);
}
for (const guide of GUIDE_NAMES.filter((name) => !latest.has(name))) process.stdout.write(`${guide}: no drain found\n`);

function drainFiles(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(SUFFIX)).map((name) => join(folder, name));
}
