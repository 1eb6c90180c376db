/** What a manager in every Pod may cost at most, and whether a run kept to it. */
import type { Figures } from "./manager-figures.ts";

export type Goal = { readonly goal: string; readonly found: string; readonly met: boolean };

/** The TLS client of the relay is 310 KiB of it. */
const SIZE_KIB = 1_024;
/** Most of it is code that is read again and again; Pods of a node share it. */
const IDLE_KIB = 768;
const OWN_KIB = 160;
const SHARE_OF_NODE = 1 / 80;
const THREADS = 1;
const SWITCHES = 0;
const START_MS = 5;
const SHARE_OF_CORE = 0.02;
const MANY_CONNECTIONS = 5_000;

/** @throws when the run lacks one of the builds */
export function goalsOf(figures: readonly Figures[]): readonly Goal[] {
  const native = pick(figures, "native");
  const node = pick(figures, "node");
  const sizeKiB = native.strippedBytes / 1024;
  const shareOfNode = native.idle.rssKiB / node.idle.rssKiB;
  const many = native.manager?.drains.find(({ connections }) => connections === MANY_CONNECTIONS);
  const shareOfCore = many?.shareOfCore ?? Number.POSITIVE_INFINITY;
  return [
    { goal: "binary, stripped: at most 1 MiB", found: `${sizeKiB.toFixed(1)} KiB`, met: sizeKiB <= SIZE_KIB },
    {
      goal: "resident memory, idle: at most 768 KiB",
      found: `${native.idle.rssKiB} KiB`,
      met: native.idle.rssKiB <= IDLE_KIB,
    },
    {
      goal: "memory of its own, idle: at most 160 KiB",
      found: `${native.idle.anonymousKiB} KiB`,
      met: native.idle.anonymousKiB <= OWN_KIB,
    },
    {
      goal: "resident memory, idle: at most 1/80 of Node's",
      found: `1/${(1 / shareOfNode).toFixed(1)}`,
      met: shareOfNode <= SHARE_OF_NODE,
    },
    { goal: "1 thread", found: String(native.threads), met: native.threads === THREADS },
    { goal: "no wake-up while idle", found: String(native.idleSwitches), met: native.idleSwitches === SWITCHES },
    {
      goal: "start to listen: at most 5 ms",
      found: `${native.startMs.toFixed(1)} ms`,
      met: native.startMs <= START_MS,
    },
    {
      goal: "drain with 5000 connections: below 2 % of a core",
      found: `${(100 * shareOfCore).toFixed(2)} %`,
      met: shareOfCore < SHARE_OF_CORE,
    },
  ];
}

function pick(figures: readonly Figures[], name: Figures["build"]): Figures {
  const found = figures.find(({ build }) => build === name);
  if (found === undefined) throw new Error(`the run has no figures of ${name}`);
  return found;
}
