/** Sends rounds of admissions at a steady rate to the webhooks of the relay benchmark. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import type { LoadResult, LoadSettings } from "./load-generator.ts";
import { readCpuMicroseconds, readMainThreadMicroseconds } from "./process-cost.ts";
import type { AdmissionRound, AdmissionRounds } from "./relay-results.ts";

const LOAD_GENERATOR = join(import.meta.dirname, "load-generator.ts");
const CONNECTIONS = 8;

/** Pods that a busy cluster with thousands of nodes creates per second. */
export const ADMISSIONS_PER_SECOND = 300;
export const ROUND_SECONDS = 5;

export type AdmissionTarget = {
  readonly port: number;
  readonly pid: number;
  readonly caFile: string;
  readonly bodyFile: string;
};

export type WebhookPair = { readonly draining: AdmissionTarget; readonly control: AdmissionTarget };

export async function measureRounds({ draining, control }: WebhookPair, count: number): Promise<AdmissionRounds> {
  const results: { draining: AdmissionRound[]; control: AdmissionRound[] } = { draining: [], control: [] };
  for (let turn = 0; turn < count; turn += 1) {
    results.draining.push(await sendAdmissions(draining, ADMISSIONS_PER_SECOND * ROUND_SECONDS, ADMISSIONS_PER_SECOND));
    results.control.push(await sendAdmissions(control, ADMISSIONS_PER_SECOND * ROUND_SECONDS, ADMISSIONS_PER_SECOND));
  }
  return results;
}

export function roundsWithin(seconds: number): number {
  return Math.max(1, Math.floor(seconds / ROUND_SECONDS / 2));
}

/** `perSecond` 0: each connection sends its next review after a response. Rejects if a review fails. */
export async function sendAdmissions(
  target: AdmissionTarget,
  requests: number,
  perSecond: number,
): Promise<AdmissionRound> {
  const { port, pid, caFile, bodyFile } = target;
  const settings: LoadSettings = { port, caFile, bodyFile, connections: CONNECTIONS, requests, perSecond };
  const [cpuBefore, mainBefore] = [readCpuMicroseconds(pid), readMainThreadMicroseconds(pid)];
  const startMs = performance.now();
  const child = spawn(process.execPath, [LOAD_GENERATOR, JSON.stringify(settings)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
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
      const cpuShare = (readCpuMicroseconds(pid) - cpuBefore) / 1_000 / (performance.now() - startMs);
      const mainThreadMs = (readMainThreadMicroseconds(pid) - mainBefore) / 1_000 / requests;
      resolve({ p50: result.p50, p99: result.p99, cpuShare, mainThreadMs });
    });
  });
}
