/** Runs a manager in this process, on a free port, to measure which files are executed for a call. */
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { DEFAULT_SETTINGS, type DrainSettings } from "../../src/contract/drain-settings.ts";
import { environmentOf, type Platform } from "../../src/manager/platform.ts";
import { serve } from "../../src/manager/serve.ts";

const TOKEN = "0".repeat(32);
const SOCKET_TABLE_HEADER =
  "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
/** The app listens at 0.0.0.0:8080. */
const LISTENER =
  "   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 12345 1 0 100 0 0 10 0\n";

/** Platform functions without native parts: files and TCP ports only. */
export const MINIMAL_BUILD = {
  libc: {
    ...{ available: false, socket: () => -1, send: () => -1, recv: () => -1 },
    ...{ connect: () => -1, setsockopt: () => -1, close: () => -1 },
  },
  portGuard: { prepare: () => true, attach: () => undefined, admits: () => true, closedCount: () => 0 },
  flagPage: { open: () => 0, signalDrain: () => undefined, deliveredCount: () => 0, undeliveredCount: () => 0 },
  onStarted: () => undefined,
};

export type WalkedManager = {
  /** Resolves with the first log line of the manager that contains the text. */
  readonly waitForLog: (text: string) => Promise<string>;
  /** Resolves when the call is answered. */
  readonly call: (method: "GET" | "POST", path: string) => Promise<void>;
};

/** @param clientCommand the command line of the manager's relay client */
export async function startManager(
  settings: Partial<DrainSettings>,
  variables: Readonly<Record<string, string>> = {},
  clientCommand: readonly string[] = [],
): Promise<WalkedManager> {
  const lines: string[] = [];
  const waiters: { readonly text: string; readonly resolve: (line: string) => void }[] = [];
  const log = (line: string): void => {
    lines.push(line);
    for (const waiter of waiters) if (line.includes(waiter.text)) waiter.resolve(line);
  };
  const port = new Promise<number>((resolve) => {
    const platform: Platform = {
      ...MINIMAL_BUILD,
      environment: environmentOf((name) => (name === "LASTCALL_TOKEN" ? TOKEN : variables[name])),
      ownCommand: clientCommand,
      portGuard: {
        ...MINIMAL_BUILD.portGuard,
        attach: (server) => resolve((server.address() as AddressInfo).port),
      },
      readText: () => undefined,
      scanText: (path, take) => {
        if (!path.endsWith("/tcp") && !path.endsWith("/udp")) return "missing";
        take(path.endsWith("/tcp") ? SOCKET_TABLE_HEADER + LISTENER : SOCKET_TABLE_HEADER);
        return "read";
      },
      // In whole seconds: other functions format other durations in the report, so a busy host would change the executed files.
      nowMs: () => Math.floor(performance.now() / 1_000) * 1_000,
      readInput: () => undefined,
      log,
      printError: log,
      exit: () => undefined,
    };
    serve({ ...DEFAULT_SETTINGS, ...settings, port: 0 }, platform);
  });
  return {
    waitForLog: async (text) =>
      lines.find((line) => line.includes(text)) ?? new Promise((found) => waiters.push({ text, resolve: found })),
    call: async (method, path) => {
      const requestOptions = {
        host: "127.0.0.1",
        port: await port,
        path: `/${TOKEN}${path}`,
        method,
        agent: false as const,
      };
      return new Promise((resolve, reject) => {
        const clientRequest = request(requestOptions, (reply) => reply.resume().once("end", () => resolve()));
        clientRequest.once("error", reject).end();
      });
    },
  };
}
