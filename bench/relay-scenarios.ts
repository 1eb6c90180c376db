/** Opens the streams of draining Pods to the relay, and withdraws their endpoints. */
import { join } from "node:path";
import type { RelayAccess } from "./relay-access.ts";
import { requestOf } from "./relay-cluster.ts";
import {
  type Child,
  type StreamCommand,
  type StreamResults,
  startChild,
  type WithdrawCommand,
  type WithdrawResult,
} from "./relay-messages.ts";

/** Equals the rate of withdrawals, so 5 000 open streams correspond to drains of 50 s. */
export const STREAMS_PER_SECOND = 100;

const LAST_STATUS_LIMIT_MS = 30_000;
const POLL_MS = 200;

export type Processes = { readonly port: number; readonly api: Child; readonly clients: readonly Child[] };

export async function openStreams(
  { port, clients }: Processes,
  access: RelayAccess,
  pods: readonly number[],
): Promise<void> {
  const openings = clients.map((client, index) => {
    const requests = pods.filter((_pod, position) => position % clients.length === index).map(requestOf);
    return client.sendCommand<StreamResults>({
      port,
      ...access,
      requests,
      streamsPerSecond: STREAMS_PER_SECOND / clients.length,
      heartbeat: false,
    } satisfies StreamCommand);
  });
  await Promise.all(openings);
}

/** Opens streams of Pods that wait only for the relay. @returns a function that closes the streams */
export async function openHeartbeats(
  port: number,
  access: RelayAccess,
  pods: readonly number[],
): Promise<() => Promise<void>> {
  const client = startClientProcess();
  const requests = pods.map(requestOf);
  const command: StreamCommand = { port, ...access, requests, streamsPerSecond: STREAMS_PER_SECOND, heartbeat: true };
  try {
    await client.sendCommand<StreamResults>(command);
  } catch (error) {
    await client.stop();
    throw error;
  }
  return client.stop;
}

export function startClientProcess(): Child {
  return startChild(join(import.meta.dirname, "relay-clients.ts"));
}

export async function streamResults({ clients }: Processes): Promise<StreamResults> {
  const all = await Promise.all(clients.map((client) => client.sendCommand<StreamResults>(null)));
  return {
    outMsByUid: Object.assign({}, ...all.map((each) => each.outMsByUid)),
    lines: all.reduce((sum, each) => sum + each.lines, 0),
    broken: all.reduce((sum, each) => sum + each.broken, 0),
    brokenReason: all.map((each) => each.brokenReason).find((text) => text !== "") ?? "",
  };
}

/** Changes the slices of the command's Pods. @returns the delay in milliseconds of each status line that arrived within the limit */
export async function withdraw(processes: Processes, command: WithdrawCommand): Promise<number[]> {
  const { sentMs } = await processes.api.sendCommand<WithdrawResult>(command);
  const startMs = performance.now();
  for (;;) {
    const { outMsByUid } = await streamResults(processes);
    const latenciesMs = sentMs.flatMap(([pod, atMs]) => {
      const readMs = outMsByUid[requestOf(pod).uid];
      return readMs === undefined ? [] : [readMs - atMs];
    });
    if (latenciesMs.length === sentMs.length || performance.now() - startMs > LAST_STATUS_LIMIT_MS) return latenciesMs;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
