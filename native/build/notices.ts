/** Writes the licences of all linked libraries to one file next to the binary. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { BuildError } from "./build-error.ts";
import { LINKED_PARTS, type LinkedPart, MUSL_NOTICE, runtimeVersion } from "./linked-parts.ts";
import { ROOT } from "./paths.ts";

/** @param tree folder of the runtime. @throws BuildError for a missing licence or an outdated version */
export function writeNotices(file: string, tree: string): void {
  const parts = [
    { title: "lastcall", text: readText(`${ROOT}/LICENSE`) },
    { title: `scriptc runtime ${runtimeVersion()}`, text: readText(`${tree}/LICENSE`) },
    ...LINKED_PARTS.map((part) => ({ title: titleOf(part), text: noticeOf(part, tree) })),
    { title: "musl", text: readText(MUSL_NOTICE) },
  ];
  writeFileSync(file, parts.map(({ title, text }) => `== ${title} ==\n\n${text.trim()}\n`).join("\n\n"));
}

function titleOf({ name, version, usedFor }: LinkedPart): string {
  return `${name} ${version}${usedFor === undefined ? "" : ` (${usedFor})`}`;
}

function noticeOf({ name, version, notice, versionProof }: LinkedPart, tree: string): string {
  if (!readText(`${tree}/${versionProof.file}`).includes(versionProof.text))
    throw new BuildError(
      `native/build/linked-parts.ts: ${name} ${version}: ${versionProof.file} has another version; update the table`,
    );
  return notice.isComment === true ? readFirstComment(`${tree}/${notice.file}`) : readText(`${tree}/${notice.file}`);
}

function readText(file: string): string {
  if (!existsSync(file))
    throw new BuildError(`${file}: the licence text is missing; restore the file, or correct its path in native/build`);
  return readFileSync(file, "utf8");
}

/** Reads the first comment, which is the licence in some source files. */
function readFirstComment(file: string): string {
  const text = readText(file);
  return text.slice(0, text.indexOf("*/")).replace(/^(\/\*+| \*) ?/gm, "");
}
