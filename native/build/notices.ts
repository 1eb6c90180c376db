/** Writes the licences of all linked libraries to one file next to the binary. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { BuildError } from "./build-error.ts";
import { LINKED_PARTS, type LinkedPart, MUSL_NOTICE, runtimeVersion } from "./linked-parts.ts";
import { ROOT } from "./places.ts";

/** @param tree the runtime. @throws BuildError for a missing licence or an outdated version */
export function writeNotices(file: string, tree: string): void {
  const parts = [
    { title: "lastcall", text: whole(`${ROOT}/LICENSE`) },
    { title: `scriptc runtime ${runtimeVersion()}`, text: whole(`${tree}/LICENSE`) },
    ...LINKED_PARTS.map((part) => ({ title: titleOf(part), text: noticeOf(part, tree) })),
    { title: "musl", text: whole(MUSL_NOTICE) },
  ];
  writeFileSync(file, parts.map(({ title, text }) => `== ${title} ==\n\n${text.trim()}\n`).join("\n\n"));
}

function titleOf({ name, version, use }: LinkedPart): string {
  return `${name} ${version}${use === undefined ? "" : ` (${use})`}`;
}

function noticeOf({ name, version, notice, proof }: LinkedPart, tree: string): string {
  if (!whole(`${tree}/${proof.file}`).includes(proof.text))
    throw new BuildError(
      `native/build/linked-parts.ts: ${name} ${version}: ${proof.file} has another version; update the table`,
    );
  return notice.isComment === true ? firstComment(`${tree}/${notice.file}`) : whole(`${tree}/${notice.file}`);
}

function whole(file: string): string {
  if (!existsSync(file)) throw new BuildError(`the licence text ${file} is missing`);
  return readFileSync(file, "utf8");
}

/** Some sources have their licence in the first comment. */
function firstComment(file: string): string {
  const text = whole(file);
  return text.slice(0, text.indexOf("*/")).replace(/^(\/\*+| \*) ?/gm, "");
}
