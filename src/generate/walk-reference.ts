/** Renders the tables of docs/architecture.md: files that three calls execute. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { code, markdownTable } from "./markdown-table.ts";

const ROOMS = ["injection", "policy", "kubernetes", "contract"];

export function injectWalk(): string {
  return tableOf(printedBy(`${WALKS}inject-walk.ts`), ROOMS);
}

export function prestopWalk(): string {
  const files: readonly string[] = printedBy(`${WALKS}prestop-walk.ts`);
  const { own, sockets } = managerFiles(files);
  return `${own.length} files besides the ${sockets} that read sockets and classify activity:\n\n${tableOf(own, ["manager", "contract"])}`;
}

const RELAY = ["api-server", "relay", "kubernetes"];

export function sliceWalk(): string {
  const { files, client }: { readonly files: readonly string[]; readonly client: readonly string[] } = printedBy(
    `${WALKS}slice-walk.ts`,
  );
  const relay = files.filter((file) => RELAY.some((room) => file.startsWith(`${room}/`)));
  const { own } = managerFiles(files);
  const all = new Set([...relay, ...client, ...own]);
  const part = (title: string, some: readonly string[], order: readonly string[]): string =>
    `${title}, ${some.length} files:\n\n${tableOf(some, order)}`;
  return [
    `${all.size} files in three programs.`,
    part("The relay", relay, RELAY),
    part("The manager's relay client, a process of its own", client, ["manager"]),
    part("The manager", own, ["manager", "contract"]),
  ].join("\n\n");
}

function managerFiles(files: readonly string[]): { readonly own: readonly string[]; readonly sockets: number } {
  const ofManager = files.filter((file) => /^(manager|contract)\//.test(file));
  const own = ofManager.filter((file) => !/^manager\/(sockets|traffic)\//.test(file));
  return { own, sockets: ofManager.length - own.length };
}

const SRC = fileURLToPath(new URL("..", import.meta.url));
const WALKS = fileURLToPath(new URL("../../test/walks/", import.meta.url));

/** Runs in a separate process: a test runner would load transformed files. */
function printedBy(script: string) {
  return JSON.parse(execFileSync(process.execPath, [script], { encoding: "utf8" }));
}

/** @param order folders in the order of execution; files of other folders are omitted */
function tableOf(files: readonly string[], order: readonly string[]): string {
  const listed = order.flatMap((folder) => files.filter((file) => file.startsWith(`${folder}/`)).sort());
  return markdownTable(
    ["file", "what it does"],
    listed.map((file) => [code(file), headerOf(file)]),
  );
}

function headerOf(file: string): string {
  const [, comment = ""] = /^\/\*\*(.*?)\*\//s.exec(readFileSync(`${SRC}${file}`, "utf8")) ?? [];
  const text = comment.replace(/\n \*/g, "").trim();
  return (/^.*?\.(?=\s|$)/s.exec(text)?.[0] ?? text).replace(/\.$/, "");
}
