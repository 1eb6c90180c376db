/** The files that one call of injectPod runs through, by execution, for the page about the architecture. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { type Profiler, Session } from "node:inspector";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { injectPod } from "../injection/inject.ts";
import { DEFAULT_CONFIG } from "../policy/cluster-config.ts";
import { code, markdownTable } from "./markdown-table.ts";

const SRC = fileURLToPath(new URL("..", import.meta.url));

/** One container, native mode, a namespace without a LimitRange. */
const POD = { metadata: { name: "web-0" }, spec: { containers: [{ name: "app", image: "web:1" }] } };
const REQUEST = {
  pod: POD,
  namespace: "shop",
  optIn: "all",
  namespaceAnnotations: { "lastcall.dev/drain-timeout": "90s" },
  overrides: [],
} as const;
const FACTS = {
  managerImage: "lastcall-manager:0.1.0",
  systemNamespaces: [],
  apiServerVersion: "1.35",
  lowestKubeletVersion: "1.35",
} as const;

/** Rooms in the order in which a request reaches them. */
const ROOMS = ["injection", "policy", "kubernetes", "contract"];

export function injectWalk(): string {
  // In a process of its own: a test runner loads changed copies of the files.
  const printed = execFileSync(process.execPath, [fileURLToPath(import.meta.url)], { encoding: "utf8" });
  const files: readonly string[] = JSON.parse(printed);
  const rows = ROOMS.flatMap((room) => files.filter((file) => file.startsWith(`${room}/`)).sort()).map((file) => [
    code(file),
    headerOf(file),
  ]);
  return markdownTable(["file", "what it does"], rows);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = filesOf(() => injectPod(REQUEST, DEFAULT_CONFIG, FACTS, { newToken: () => "0".repeat(32) }));
  process.stdout.write(JSON.stringify(files));
}

/** Below `src`, each with a function that ran. */
function filesOf(call: () => unknown): readonly string[] {
  // Loaded modules and values that are made once do not count.
  call();
  const session = new Session();
  session.connect();
  // Within one process the answers come before `post` returns.
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  call();
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
}

function hasRun({ ranges }: Profiler.FunctionCoverage): boolean {
  return (ranges[0]?.count ?? 0) > 0;
}

/** The first sentence of the comment that heads the file. */
function headerOf(file: string): string {
  const [, comment = ""] = /^\/\*\*(.*?)\*\//s.exec(readFileSync(`${SRC}${file}`, "utf8")) ?? [];
  const text = comment.replace(/\n \*/g, "").trim();
  return (/^.*?\.(?=\s|$)/s.exec(text)?.[0] ?? text).replace(/\.$/, "");
}
