/** Admissions at a steady rate, in rounds, against the webhook of the relay's benchmark. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import type { LoadOrder, LoadResult } from "./load-generator.ts";
import { cpuMicroseconds, firstThreadMicroseconds } from "./process-cost.ts";
import type { AdmissionRound, AdmissionRounds } from "./relay-figures.ts";

const GENERATOR = join(import.meta.dirname, "load-generator.ts");
const CONNECTIONS = 8;

/** As many Pods as the controllers of a cluster of this size make in a second when it is busy. */
export const ADMISSIONS_PER_SECOND = 300;
export const ROUND_SECONDS = 5;

export type Admitting = {
  readonly port: number;
  readonly pid: number;
  readonly caFile: string;
  readonly bodyFile: string;
};

export type Pair = { readonly here: Admitting; readonly aside: Admitting };

/** As many of each, in turns. */
export async function rounds({ here, aside }: Pair, count: number): Promise<AdmissionRounds> {
  const seen: { here: AdmissionRound[]; aside: AdmissionRound[] } = { here: [], aside: [] };
  for (let turn = 0; turn < count; turn += 1) {
    seen.here.push(await admissions(here, ADMISSIONS_PER_SECOND * ROUND_SECONDS, ADMISSIONS_PER_SECOND));
    seen.aside.push(await admissions(aside, ADMISSIONS_PER_SECOND * ROUND_SECONDS, ADMISSIONS_PER_SECOND));
  }
  return seen;
}

/** Rounds of both that fit into the time, so that each runs beside what it is to run beside. */
export function roundsWithin(seconds: number): number {
  return Math.max(1, Math.floor(seconds / ROUND_SECONDS / 2));
}

/** `perSecond` 0: as fast as they are answered. Rejects when any of them failed. */
export async function admissions(where: Admitting, requests: number, perSecond: number): Promise<AdmissionRound> {
  const { port, pid, caFile, bodyFile } = where;
  const order: LoadOrder = { port, caFile, bodyFile, connections: CONNECTIONS, requests, perSecond };
  const [cpuBefore, ownBefore] = [cpuMicroseconds(pid), firstThreadMicroseconds(pid)];
  const startMs = performance.now();
  const child = spawn(process.execPath, [GENERATOR, JSON.stringify(order)], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.once("close", (status) => {
      const result: LoadResult | undefined = status === 0 ? JSON.parse(text) : undefined;
      if (result === undefined || result.failed > 0) {
        reject(new Error(`admissions failed: ${text}`));
        return;
      }
      const cpuShare = (cpuMicroseconds(pid) - cpuBefore) / 1_000 / (performance.now() - startMs);
      const ownCpuMs = (firstThreadMicroseconds(pid) - ownBefore) / 1_000 / requests;
      resolve({ p50: result.p50, p99: result.p99, cpuShare, ownCpuMs });
    });
  });
}
