/** Runs slice watches over real sockets, with short delays, against an API server that the test controls. */
import { Registry } from "prom-client";
import { expect } from "vitest";
import { type ApiClient, createApiClient } from "../../../src/api-server/api-client.ts";
import type { WithdrawalRequest, WithdrawalStatusLine } from "../../../src/contract/relay-wire.ts";
import type { Clock } from "../../../src/relay/slices/clock.ts";
import type { SliceWatchTiming } from "../../../src/relay/slices/namespace-watch.ts";
import { createSliceWatches, type SliceWatches } from "../../../src/relay/slices/slice-watches.ts";
import { type FakeApiServer, startFakeApiServer } from "../../api-server/fake-api-server.ts";
import { eventually } from "../../time/eventually.ts";
import { sleep } from "../../time/pause.ts";
import { type SliceCase, sliceObject } from "./slice-cases.ts";

/** `watchMs` is one second, because the API limits watches in whole seconds. */
const SHORT_TIMING: SliceWatchTiming = {
  watchMs: 1_000,
  staleAfterMs: 5_000,
  silenceMs: 4_000,
  silencePerSliceMs: 10,
  relistMs: 60_000,
  retryLimitMs: 100,
  requestLimitMs: 10_000,
  lingerMs: 300,
  checkMs: 20,
  pageSize: 2,
  namespaceLimit: 3,
  openings: { capacity: 100, refillMs: 10 },
};

const TEST_CLOCK: Clock = {
  nowMs: () => performance.now(),
  sleep,
  every: (ms, callback) => {
    const timer = setInterval(callback, ms);
    return () => clearInterval(timer);
  },
};

/** A draining manager with the lines that it received. */
export type DrainingManager = { readonly lines: readonly WithdrawalStatusLine[]; readonly unsubscribe: () => void };

export type WatchedCluster = {
  readonly api: FakeApiServer;
  readonly watches: SliceWatches;
  readonly startDrain: (request?: Partial<WithdrawalRequest>) => DrainingManager;
  readonly put: (slice: SliceCase) => void;
  readonly remove: (name: string, namespace?: string) => void;
  readonly logLines: readonly string[];
  readonly metrics: () => Promise<string>;
  /** Returns the number of list requests for slices until now. */
  readonly countLists: (namespace?: string) => number;
  readonly countOpenWatches: (namespace?: string) => number;
  readonly close: () => Promise<void>;
};

export const slicesPathOf = (namespace: string): string =>
  `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;

export async function createWatchedCluster(
  options: { readonly readsPods?: boolean; readonly timing?: Partial<SliceWatchTiming> } = {},
): Promise<WatchedCluster> {
  const server = await startFakeApiServer();
  server.faults.sendsBookmarks = true;
  const api: ApiClient = createApiClient(server.connection);
  const registry = new Registry();
  const logLines: string[] = [];
  const record = (keys: object, sentence: string): void => {
    logLines.push(`${sentence} ${JSON.stringify(keys)}`);
  };
  const watches = createSliceWatches({
    request: api.request,
    stream: api.stream,
    clock: TEST_CLOCK,
    random: () => 0.5,
    readsPods: options.readsPods ?? false,
    registry,
    log: { info: record, warn: record },
    timing: { ...SHORT_TIMING, ...options.timing },
  });
  const countLists = (namespace = "shop"): number =>
    server.requests.filter(
      (request) => request.startsWith(`GET ${slicesPathOf(namespace)}`) && !request.includes("watch="),
    ).length;
  return {
    api: server,
    watches,
    logLines,
    countLists,
    countOpenWatches: (namespace = "shop") => server.countOpenWatches(slicesPathOf(namespace)),
    metrics: () => registry.metrics(),
    put: (slice) => server.put(slicesPathOf(slice.namespace ?? "shop"), sliceObject(slice)),
    remove: (name, namespace = "shop") => server.remove(slicesPathOf(namespace), name, namespace),
    startDrain: (request = {}) => {
      const lines: WithdrawalStatusLine[] = [];
      const fullRequest = { namespace: "shop", pod: "web-1", uid: "uid-1", addresses: ["10.0.0.1"], ...request };
      return { lines, unsubscribe: watches.watchPod(fullRequest, (line) => lines.push(line)) };
    },
    close: async () => {
      await watches.stop();
      api.close();
      await server.close();
    },
  };
}

/** Waits until the last received line matches. */
export async function waitForStatus(drainer: DrainingManager, line: Partial<WithdrawalStatusLine>): Promise<void> {
  await eventually(() => expect(drainer.lines.at(-1)).toMatchObject(line));
}
