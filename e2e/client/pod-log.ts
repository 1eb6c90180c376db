/** What a container says while the case goes on; the log of a Pod is gone with the Pod. */
import { once } from "node:events";
import type { DrainReport } from "../../src/contract/drain-report.ts";
import { waitUntil } from "../host/wait.ts";
import type { CaseNamespace } from "./case-namespace.ts";

export type PodLog = {
  readonly lines: () => readonly string[];
  /** The first line that holds the words. */
  readonly heard: (words: string, withinSeconds?: number) => Promise<string>;
  /** Resolves when the container has ended. */
  readonly ended: Promise<unknown>;
};

/** The container must run already. The follower ends with it, at the latest with the namespace. */
export function followLog(namespace: CaseNamespace, pod: string, container: string): PodLog {
  const lines: string[] = [];
  const reader = namespace.here.follow(["logs", "--follow", `--container=${container}`, pod], (line) => {
    lines.push(line);
    namespace.note(`${container} of ${pod}: ${line}`);
  });
  return {
    lines: () => lines,
    heard: (words, withinSeconds = 60) => {
      const what = `${container} of ${pod} says "${words}"`;
      return waitUntil({ what, withinMs: withinSeconds * 1000 }, () => lines.find((line) => line.includes(words)));
    },
    ended: once(reader, "close"),
  };
}

/** When the candid app met this, by its own clock. */
export async function metAtMs(log: PodLog, what: string, withinSeconds?: number): Promise<number> {
  const line: { readonly atMs: number } = JSON.parse(await log.heard(`"${what}"`, withinSeconds));
  return line.atMs;
}

/** The manager's last word about a drain. */
export async function drainReport(manager: PodLog, withinSeconds?: number): Promise<DrainReport> {
  const line: { readonly report: DrainReport } = JSON.parse(await manager.heard('"drain report"', withinSeconds));
  return line.report;
}

export const MANAGER = "lastcall";
