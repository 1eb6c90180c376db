/** The licences of everything that is linked into the binary, in one file beside it. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { BuildError } from "./build-error.ts";
import { ROOT } from "./places.ts";

type Part = { readonly name: string; readonly text: (tree: string) => string };

const PARTS: readonly Part[] = [
  { name: "lastcall", text: () => whole(`${ROOT}/LICENSE`) },
  { name: "scriptc runtime 0.1.7", text: (tree) => whole(`${tree}/LICENSE`) },
  { name: "quickjs-ng (regular expressions, numbers)", text: (tree) => whole(`${tree}/vendor/quickjs-ng/LICENSE`) },
  { name: "Ryu (numbers)", text: (tree) => whole(`${tree}/vendor/ryu/LICENSE-Boost`) },
  { name: "Mbed TLS 3.6.7 (linked only where TLS is used)", text: (tree) => whole(`${tree}/vendor/mbedtls/LICENSE`) },
  { name: "libucontext (stacks)", text: (tree) => firstComment(`${tree}/src/scr_musl.c`) },
  { name: "musl", text: () => whole(`${ROOT}/native/licences/musl.txt`) },
];

export function writeNotices(file: string, tree: string): void {
  const parts = PARTS.map(({ name, text }) => `== ${name} ==\n\n${text(tree).trim()}\n`);
  writeFileSync(file, parts.join("\n\n"));
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
