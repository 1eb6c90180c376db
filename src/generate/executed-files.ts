/** Which files of `src` run, by V8's coverage, and a table of them for a page. */
import { readFileSync } from "node:fs";
import { type Profiler, Session } from "node:inspector";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { code, markdownTable } from "./markdown-table.ts";

const SRC = fileURLToPath(new URL("..", import.meta.url));

/** @returns ends the measurement: the files below `src` in which a function ran since then */
export function startCoverage(): () => readonly string[] {
  const session = new Session();
  session.connect();
  // Within one process the answers come before `post` returns.
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  return () => {
    let scripts: readonly Profiler.ScriptCoverage[] = [];
    session.post("Profiler.takePreciseCoverage", (error, coverage) => {
      if (error !== null) throw error;
      scripts = coverage.result;
    });
    session.disconnect();
    return scripts
      .filter(({ url, functions }) => url.startsWith("file:") && functions.some(hasRun))
      .map(({ url }) => relative(SRC, fileURLToPath(url)))
      .filter((file) => !file.startsWith("..") && !file.startsWith("generate/"));
  };
}

function hasRun({ ranges }: Profiler.FunctionCoverage): boolean {
  return (ranges[0]?.count ?? 0) > 0;
}

/** @param order folders in the order in which they are reached; files of others are left out */
export function tableOf(files: readonly string[], order: readonly string[]): string {
  const listed = order.flatMap((folder) => files.filter((file) => file.startsWith(`${folder}/`)).sort());
  return markdownTable(
    ["file", "what it does"],
    listed.map((file) => [code(file), headerOf(file)]),
  );
}

/** The first sentence of the comment that heads the file. */
function headerOf(file: string): string {
  const [, comment = ""] = /^\/\*\*(.*?)\*\//s.exec(readFileSync(`${SRC}${file}`, "utf8")) ?? [];
  const text = comment.replace(/\n \*/g, "").trim();
  return (/^.*?\.(?=\s|$)/s.exec(text)?.[0] ?? text).replace(/\.$/, "");
}
