/** Samples this machine's sockets, for tests with real traffic. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import { expect } from "vitest";
import { DEFAULT_SETTINGS, type DrainSettings } from "../../src/contract/drain-settings.ts";
import { loadNodeLibc } from "../../src/manager/node-libc.ts";
import { readTextFile, scanTextFile } from "../../src/manager/read-text.ts";
import type { SocketVisitor } from "../../src/manager/sockets/reading.ts";
import { createSocketReader } from "../../src/manager/sockets/sockets.ts";
import { createConnectionMemory } from "../../src/manager/traffic/connection-memory.ts";
import type { Observation } from "../../src/manager/traffic/observation.ts";
import {
  createTrafficMonitor,
  NO_CONNECTIONS,
  type TrafficMonitor,
} from "../../src/manager/traffic/traffic-monitor.ts";
import { eventually } from "../time/eventually.ts";

/** `readDurationMs` is the duration of the read, which limits the accuracy of the ages. */
export type DatedObservation = Extract<Observation, { known: true }> & {
  readonly atMs: number;
  readonly readDurationMs: number;
};

/** @returns a function that samples once, and throws if the observation is unknown */
export function createSampler(overrides: Partial<DrainSettings>): () => DatedObservation {
  const read = createSocketReader(loadNodeLibc(), readTextFile, scanTextFile, overrides.port ?? DEFAULT_SETTINGS.port);
  const monitor = createTrafficMonitor({ ...DEFAULT_SETTINGS, ...overrides }, createConnectionMemory(Math.random));
  return () => {
    const fromMs = performance.now();
    monitor.startSample(fromMs);
    const reading = read(60_000, visitorOf(monitor));
    const atMs = performance.now();
    const observation = monitor.finishSample(reading, atMs, NO_CONNECTIONS);
    if (!observation.known) throw new Error(observation.why);
    return { ...observation, atMs, readDurationMs: atMs - fromMs };
  };
}

function visitorOf(monitor: TrafficMonitor): SocketVisitor {
  return {
    onListener: monitor.addListener,
    onConnection: (socket) => monitor.addConnection(socket, performance.now()),
    onUdpPort: monitor.addUdpPort,
    onTooManyUdp: monitor.addTooManyUdp,
    onIncomplete: monitor.markIncomplete,
  };
}

export async function listen(server: Server, host: string): Promise<number> {
  server.listen(0, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

export function sampleUntil(
  sample: () => DatedObservation,
  expected: Readonly<Record<string, unknown>>,
): Promise<DatedObservation> {
  return eventually(() => {
    const observation = sample();
    expect(observation).toMatchObject(expected);
    return observation;
  });
}

/** Starts a Node program as a child process, and waits for its first line. */
export async function startNode(source: string, args: readonly string[] = [], wrapper: readonly string[] = []) {
  const command = [...wrapper, process.execPath, "--input-type=module", "-e", source, ...args];
  const child: ChildProcess = spawn(command[0] ?? "", command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  const firstLine = once(child.stdout ?? child, "data");
  const ended = once(child, "exit").then(() => {
    throw new Error(`the child ended early: ${source.slice(0, 80)}`);
  });
  const [line] = (await Promise.race([firstLine, ended])) as [Buffer];
  ended.catch(() => undefined);
  return { child, line: line.toString().trim() };
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}
