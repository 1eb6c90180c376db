/** Follows a container's log during the case, because the log is deleted with the Pod. */
import { once } from "node:events";
import type { DrainReport } from "../../src/contract/drain-report.ts";
import { waitUntil } from "../host/wait.ts";
import type { CaseNamespace } from "./case-namespace.ts";

export type PodLog = {
  readonly lines: () => readonly string[];
  /** Resolves with the first line that contains the text. */
  readonly waitFor: (text: string, withinSeconds?: number) => Promise<string>;
  /** Resolves when the container has exited. */
  readonly whenClosed: Promise<unknown>;
};

/** Follows the log of a running container until it exits or the namespace is deleted. */
export function followLog(namespace: CaseNamespace, pod: string, container: string): PodLog {
  const lines: string[] = [];
  const reader = namespace.kubectl.follow(["logs", "--follow", `--container=${container}`, pod], (line) => {
    lines.push(line);
    namespace.addTimelineLine(`${container} of ${pod}: ${line}`);
  });
  return {
    lines: () => lines,
    waitFor: (text, withinSeconds = 60) => {
      const condition = `${container} of ${pod} logs "${text}"`;
      return waitUntil({ condition, withinMs: withinSeconds * 1000 }, () => lines.find((line) => line.includes(text)));
    },
    whenClosed: once(reader, "close"),
  };
}

/** Waits until the test application has logged an event, and returns the time by the application's clock. */
export async function loggedAtMs(log: PodLog, event: string, withinSeconds?: number): Promise<number> {
  const line: { readonly atMs: number } = JSON.parse(await log.waitFor(`"${event}"`, withinSeconds));
  return line.atMs;
}

/** Waits for the manager's drain report. */
export async function drainReport(manager: PodLog, withinSeconds?: number): Promise<DrainReport> {
  const line: { readonly report: DrainReport } = JSON.parse(await manager.waitFor('"drain report"', withinSeconds));
  return line.report;
}

export const MANAGER = "lastcall";
