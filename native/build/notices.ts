/** The licences of everything that is linked into the binary, in one file beside it. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { BuildError } from "./build-error.ts";
import { LINKED_PARTS, type LinkedPart, MUSL_NOTICE, runtimeVersion } from "./linked-parts.ts";
import { ROOT } from "./places.ts";

/** @param tree the runtime. @throws BuildError where a licence is missing or the table names another version */
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
      `native/build/linked-parts.ts: ${name} ${version}: ${proof.file} names another version; renew the table`,
    );
  return notice.isComment === true ? firstComment(`${tree}/${notice.file}`) : whole(`${tree}/${notice.file}`);
}

function whole(file: string): string {
  if (!existsSync(file))
    throw new BuildError(`the licence text ${file} is missing, and a binary is not made without it`);
  return readFileSync(file, "utf8");
}

/** A source may carry its licence in the comment it begins with. */
function firstComment(file: string): string {
  const text = whole(file);
  return text.slice(0, text.indexOf("*/")).replace(/^(\/\*+| \*) ?/gm, "");
}
