/** Renders the tables of docs/architecture.md: the source files that three calls execute. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { code, markdownTable } from "./markdown-table.ts";

const INJECT_FOLDERS = ["injection", "policy", "kubernetes", "contract"];

export function injectWalk(): string {
  return tableOf(runWalk(`${WALKS_FOLDER}inject-walk.ts`), INJECT_FOLDERS);
}

export function prestopWalk(): string {
  const files: readonly string[] = runWalk(`${WALKS_FOLDER}prestop-walk.ts`);
  const { otherFiles, socketFiles } = managerFiles(files);
  return `${otherFiles.length} files besides the ${socketFiles} that read sockets and classify activity:\n\n${tableOf(otherFiles, ["manager", "contract"])}`;
}

const RELAY_FOLDERS = ["api-server", "relay", "kubernetes"];

export function sliceWalk(): string {
  const { files, client }: { readonly files: readonly string[]; readonly client: readonly string[] } = runWalk(
    `${WALKS_FOLDER}slice-walk.ts`,
  );
  const relayFiles = files.filter((file) => RELAY_FOLDERS.some((folder) => file.startsWith(`${folder}/`)));
  const { otherFiles } = managerFiles(files);
  const allFiles = new Set([...relayFiles, ...client, ...otherFiles]);
  const section = (title: string, partFiles: readonly string[], order: readonly string[]): string =>
    `${title}, ${partFiles.length} files:\n\n${tableOf(partFiles, order)}`;
  return [
    `${allFiles.size} files in three programs.`,
    section("The relay", relayFiles, RELAY_FOLDERS),
    section("The manager's relay client, a separate process", client, ["manager"]),
    section("The manager", otherFiles, ["manager", "contract"]),
  ].join("\n\n");
}

function managerFiles(files: readonly string[]): {
  readonly otherFiles: readonly string[];
  readonly socketFiles: number;
} {
  const allFiles = files.filter((file) => /^(manager|contract)\//.test(file));
  const otherFiles = allFiles.filter((file) => !/^manager\/(sockets|traffic)\//.test(file));
  return { otherFiles, socketFiles: allFiles.length - otherFiles.length };
}

const SOURCE_FOLDER = fileURLToPath(new URL("..", import.meta.url));
const WALKS_FOLDER = fileURLToPath(new URL("../../test/walks/", import.meta.url));

/** Runs a script in a separate process, because a test runner would load transformed files. */
function runWalk(script: string) {
  return JSON.parse(execFileSync(process.execPath, [script], { encoding: "utf8" }));
}

/** @param order folders in the order of execution; files of other folders are omitted */
function tableOf(files: readonly string[], order: readonly string[]): string {
  const listedFiles = order.flatMap((folder) => files.filter((file) => file.startsWith(`${folder}/`)).sort());
  return markdownTable(
    ["file", "what it does"],
    listedFiles.map((file) => [code(file), headerOf(file)]),
  );
}

function headerOf(file: string): string {
  const [, comment = ""] = /^\/\*\*(.*?)\*\//s.exec(readFileSync(`${SOURCE_FOLDER}${file}`, "utf8")) ?? [];
  const text = comment.replace(/\n \*/g, "").trim();
  return (/^.*?\.(?=\s|$)/s.exec(text)?.[0] ?? text).replace(/\.$/, "");
}
