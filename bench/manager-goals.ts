/** Checks the results of the manager benchmark against its limits. */
import type { BuildResults } from "./manager-results.ts";

export type Goal = { readonly title: string; readonly measured: string; readonly met: boolean };

/** Limit of the size of all files; the TLS client for the relay takes 310 KiB. */
const MAX_SIZE_KIB = 1_024;
/** Limit of the resident memory, most of which is code that all managers of a node share. */
const MAX_IDLE_KIB = 768;
const MAX_ANONYMOUS_KIB = 152;
const MAX_IDLE_MEMORY_SHARE_OF_NODE_BUILD = 1 / 80;
const MAX_THREADS = 1;
const MAX_IDLE_CONTEXT_SWITCHES = 0;
const MAX_START_MS = 5;
const MAX_SHARE_OF_CORE = 0.02;
const MANY_CONNECTIONS = 5_000;

/** @throws when the run lacks one of the builds */
export function checkGoals(results: readonly BuildResults[]): readonly Goal[] {
  const native = resultsOf(results, "native");
  const node = resultsOf(results, "node");
  const sizeKiB = native.strippedBytes / 1024;
  const shareOfNode = native.idle.rssKiB / node.idle.rssKiB;
  const drain = native.manager?.drains.find(({ connections }) => connections === MANY_CONNECTIONS);
  const shareOfCore = drain?.shareOfCore ?? Number.POSITIVE_INFINITY;
  return [
    { title: "binary, stripped: at most 1 MiB", measured: `${sizeKiB.toFixed(1)} KiB`, met: sizeKiB <= MAX_SIZE_KIB },
    {
      title: "resident memory, idle: at most 768 KiB",
      measured: `${native.idle.rssKiB} KiB`,
      met: native.idle.rssKiB <= MAX_IDLE_KIB,
    },
    {
      title: "anonymous memory, idle: at most 152 KiB",
      measured: `${native.idle.anonymousKiB} KiB`,
      met: native.idle.anonymousKiB <= MAX_ANONYMOUS_KIB,
    },
    {
      title: "resident memory, idle: at most 1/80 of Node's",
      measured: `1/${(1 / shareOfNode).toFixed(1)}`,
      met: shareOfNode <= MAX_IDLE_MEMORY_SHARE_OF_NODE_BUILD,
    },
    { title: "1 thread", measured: String(native.threads), met: native.threads === MAX_THREADS },
    {
      title: "no context switch while idle",
      measured: String(native.idleSwitches),
      met: native.idleSwitches === MAX_IDLE_CONTEXT_SWITCHES,
    },
    {
      title: "start until listening: at most 5 ms",
      measured: `${native.startMs.toFixed(1)} ms`,
      met: native.startMs <= MAX_START_MS,
    },
    {
      title: "drain with 5000 connections: below 2 % of a core",
      measured: `${(100 * shareOfCore).toFixed(2)} %`,
      met: shareOfCore < MAX_SHARE_OF_CORE,
    },
  ];
}

function resultsOf(results: readonly BuildResults[], name: BuildResults["build"]): BuildResults {
  const found = results.find(({ build }) => build === name);
  if (found === undefined) throw new Error(`the run has no results of the ${name} build`);
  return found;
}
