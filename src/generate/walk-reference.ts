/** The files that three calls run through, by execution, for the page about the architecture. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { injectPod } from "../injection/inject.ts";
import { DEFAULT_CONFIG } from "../policy/cluster-config.ts";
import { startCoverage, tableOf } from "./executed-files.ts";

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
  return tableOf(printedBy(fileURLToPath(import.meta.url)), ROOMS);
}

export function prestopWalk(): string {
  const files: readonly string[] = printedBy(`${WALKS}prestop-walk.ts`);
  const { own, sockets } = managerFiles(files);
  return `${own.length} files beside the ${sockets} that read and judge sockets:\n\n${tableOf(own, ["manager", "contract"])}`;
}

/** Rooms in the order in which an event reaches them. */
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

const WALKS = fileURLToPath(new URL("../../test/walks/", import.meta.url));

/** In a process of its own: a test runner loads changed copies of the files. */
function printedBy(script: string) {
  return JSON.parse(execFileSync(process.execPath, [script], { encoding: "utf8" }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const call = () => injectPod(REQUEST, DEFAULT_CONFIG, FACTS, { newToken: () => "0".repeat(32) });
  // Loaded modules and values that are made once do not count.
  call();
  const end = startCoverage();
  call();
  process.stdout.write(JSON.stringify(end()));
}
