/** Starts the real webhook server as a process of its own and waits until it serves. */
import { readFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { Fault } from "../../fault.ts";
import { type Clock, waitAtMost } from "../clock.ts";
import type { ProcessTable } from "../pods/process-table.ts";
import type { AdmissionTarget } from "./admission-client.ts";

export type WebhookPorts = {
  readonly clock: Clock;
  readonly processes: ProcessTable;
  /** The words that start `lastcall`. */
  readonly program: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** A folder that is removed at the end. */
  readonly scratch: string;
  /** Where it listens, as its relay does for the Pods. */
  readonly host: string;
  /** How its relay reaches the API server; empty: no relay. */
  readonly kubeconfigFile: string;
};

type WebhookProcess = { readonly target: AdmissionTarget; readonly stop: () => Promise<void> };

/** Most of a start is compiling, which takes 2 s of processor: half a minute where thirty programs want it too. */
const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 2_000;

/** @throws Fault ERR_DEMO_FAILED with the server's last words when it does not serve within 60 s. */
export async function startWebhook(ports: WebhookPorts): Promise<WebhookProcess> {
  const { host } = ports;
  const port = await freePort(host);
  const caFile = join(ports.scratch, "ca.pem");
  const words: string[] = [];
  const server = ports.processes.start({
    argv: [
      ...ports.program,
      "webhook",
      `--host=${host}`,
      `--port=${port}`,
      "--opt-in=all",
      `--ca-file=${caFile}`,
      // No client is left to serve when the demo stops it.
      "--drain-delay=0s",
      ...relayFlags(ports.kubeconfigFile, host, await freePort(host)),
    ],
    environment: ports.environment,
    onLine: (line) => {
      words.push(line);
      if (words.length > 20) words.shift();
    },
  });
  const untilMs = ports.clock.nowMs() + START_LIMIT_MS;
  for (;;) {
    const authority = await readFile(caFile, "utf8").catch(() => "");
    if (authority.includes("END CERTIFICATE") && (await connects(host, port))) {
      return {
        target: { host, port, authority },
        stop: async () => {
          server.signal("SIGTERM");
          await waitAtMost(ports.clock, STOP_LIMIT_MS, server.exited);
          server.signal("SIGKILL");
          await server.exited;
        },
      };
    }
    if (!server.isRunning() || ports.clock.nowMs() > untilMs)
      throw new Fault("ERR_DEMO_FAILED", `the webhook did not start: ${words.join(" | ")}`);
    await ports.clock.wait(50);
  }
}

function relayFlags(kubeconfigFile: string, host: string, port: number): readonly string[] {
  if (kubeconfigFile === "") return [];
  return [
    "--cluster=watch",
    "--kube-version=auto",
    `--kubeconfig=${kubeconfigFile}`,
    "--relay-secret=lastcall-relay",
    `--relay-port=${port}`,
    `--relay-address=${host}:${port}`,
  ];
}

function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** Whether a program listens there now. */
function connects(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
