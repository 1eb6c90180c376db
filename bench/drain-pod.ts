/** Starts a Pod of the drain benchmark: a real manager process on its own loopback address. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { join } from "node:path";

export const DRAIN_DELAY_MS = 1_000;
export const QUIET_PERIOD_MS = 500;

const MANAGER_FILE = join(import.meta.dirname, "../src/manager/node-main.ts");
const PORT = 17_890;
const TOKEN = "bench";

export type Pod = {
  readonly address: string;
  readonly drain: () => Promise<DrainResult>;
  readonly stop: () => Promise<void>;
};

export type DrainResult = { readonly releasedMs: number; readonly outcome: string; readonly evidenceSource: string };

export async function startPod(address: string): Promise<Pod> {
  const flags = [
    `--address-scope=${address}`,
    `--drain-delay=${DRAIN_DELAY_MS}ms`,
    `--quiet-period=${QUIET_PERIOD_MS}ms`,
    "--drain-timeout=30s",
  ];
  const child = spawn(process.execPath, [MANAGER_FILE, "serve", ...flags], {
    env: { LASTCALL_TOKEN: TOKEN },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await waitUntilListening(child, address);
  return { address, drain: () => drain(address), stop: () => killProcess(child) };
}

async function waitUntilListening(child: ChildProcess, address: string): Promise<void> {
  const ended = once(child, "exit").then(() => Promise.reject(new Error(`the manager of ${address} ended early`)));
  ended.catch(() => undefined);
  let text = "";
  while (!text.includes('"listening"')) {
    const [chunk] = (await Promise.race([once(child.stdout ?? child, "data"), ended])) as [Buffer];
    text = `${text}${chunk.toString()}`;
  }
  // Discards the rest of the log, because a full pipe would block the manager.
  child.stdout?.resume();
}

function drain(address: string): Promise<DrainResult> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: address, port: PORT, method: "POST", path: `/${TOKEN}/drain`, agent: false },
      (res) => {
        const releasedMs = performance.now();
        let body = "";
        res.on("data", (chunk: Buffer) => {
          body = `${body}${chunk.toString()}`;
        });
        res.on("end", () => {
          const report: { outcome: string; evidenceSource: string } = JSON.parse(body);
          resolve({ releasedMs, outcome: report.outcome, evidenceSource: report.evidenceSource });
        });
      },
    );
    outgoing.on("error", reject);
    outgoing.end();
  });
}

export async function killProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}
