/** Starts a fake relay with faults on demand. The relay has a separate loopback address, so no other program uses its port. */
import { Worker } from "node:worker_threads";
import { generate } from "selfsigned";
import { VARIABLES } from "../../src/contract/manager-environment.ts";
import { DRAINS_PATH, type WithdrawalStatusLine } from "../../src/contract/relay-wire.ts";
import type { TestClock } from "../clock/test-clock.ts";
import { ownAddress } from "../leases/own-address.ts";
import { createChanges } from "../time/changes.ts";
import {
  openRelay,
  type ReceivedRequest,
  type RelayEvent,
  type RelayPlan,
  type RelayRequestHandler,
  type RelayServer,
} from "./fake-relay-server.ts";
import type { RelayCommand, ThreadMessage } from "./fake-relay-thread.ts";

export const RELAY_NAME = "relay-1.lastcall.internal";
export const CREDENTIAL = "k1.cGF5bG9hZA.bWFj";

export type Authority = { readonly cert: string; readonly key: string };

export async function createAuthority(name = "a relay's authority"): Promise<Authority> {
  const certificate = await generate([{ name: "commonName", value: name }], {
    keyType: "ec",
    curve: "P-256",
    algorithm: "sha256",
    extensions: [{ name: "basicConstraints", cA: true, critical: true }],
  });
  return { cert: certificate.cert, key: certificate.private };
}

export type LeafOptions = { readonly name?: string; readonly from?: Date; readonly until?: Date };

export async function issueLeaf(ca: Authority, leaf: LeafOptions = {}): Promise<Authority> {
  const name = leaf.name ?? RELAY_NAME;
  const certificate = await generate([{ name: "commonName", value: name }], {
    keyType: "ec",
    curve: "P-256",
    algorithm: "sha256",
    ca,
    ...(leaf.from === undefined ? {} : { notBeforeDate: leaf.from }),
    ...(leaf.until === undefined ? {} : { notAfterDate: leaf.until }),
    extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: name }] }],
  });
  return { cert: certificate.cert, key: certificate.private };
}

export type HostAndPort = { readonly address: string; readonly port: number };

export function relayEnvironment(hostAndPort: HostAndPort, ca: Authority): Record<string, string> {
  return {
    [VARIABLES.relayAddress]: `${hostAndPort.address}:${hostAndPort.port}`,
    [VARIABLES.relayName]: RELAY_NAME,
    [VARIABLES.relayCa]: ca.cert.replace(/-----[A-Z ]+-----|\s/g, ""),
    [VARIABLES.relayCredential]: CREDENTIAL,
    POD_NAME: "web-0",
    POD_NAMESPACE: "shop",
    POD_UID: "11111111-2222-3333-4444-555555555555",
    POD_IPS: "10.0.0.7,fd00::7",
  };
}

export const statusLine = (overrides: Partial<WithdrawalStatusLine> = {}): WithdrawalStatusLine => ({
  state: "in",
  terminating: true,
  reason: "",
  ...overrides,
});

export type FakeRelay = {
  readonly hostAndPort: HostAndPort;
  readonly env: Record<string, string>;
  /** Sends the line on all open streams, and as the first line on later streams. */
  readonly send: (status: WithdrawalStatusLine) => void;
  readonly requests: readonly ReceivedRequest[];
  /** Received reports, in the order of their arrival. */
  readonly reports: readonly Record<string, unknown>[];
  readonly untilRequested: (count?: number) => Promise<void>;
  readonly untilReported: () => Promise<Record<string, unknown>>;
  /** Waits until `requests`, `reports` and `streams` contain everything that the relay's thread has received. */
  readonly untilSynchronized: () => Promise<void>;
  readonly streamCount: () => number;
  /** Closes all connections and stops listening. */
  readonly crash: () => Promise<void>;
  readonly restart: () => Promise<void>;
  /** Leaves the connections open and stops writing. */
  readonly freeze: () => void;
};

export type RelayOptions = {
  readonly ca?: Authority;
  readonly leaf?: Authority;
  readonly firstStatus?: WithdrawalStatusLine;
  readonly hasHeartbeat?: boolean;
  /** Replaces the relay's request handler; the relay then runs on the test's thread. */
  readonly respond?: RelayRequestHandler;
  /** Clock of the heartbeats; the relay then runs on the test's thread. */
  readonly clock?: TestClock;
};

export async function startRelay(options: RelayOptions = {}): Promise<FakeRelay> {
  const ca = options.ca ?? (await createAuthority());
  const plan: RelayPlan = {
    address: ownAddress(),
    leaf: options.leaf ?? (await issueLeaf(ca)),
    firstStatus: options.firstStatus ?? statusLine(),
    hasHeartbeat: options.hasHeartbeat !== false,
  };
  const requests: ReceivedRequest[] = [];
  const reports: Record<string, unknown>[] = [];
  let streamCount = 0;
  const changes = createChanges();
  const onEvent = (event: RelayEvent) => {
    if (event.kind === "request") requests.push(event.request);
    else if (event.kind === "report") reports.push(event.report);
    else streamCount = event.count;
    changes.notify();
  };
  const { respond, clock } = options;
  const { port, send, crash, restart, freeze, untilSynchronized, end } = await (respond === undefined &&
  clock === undefined
    ? openOnThread(plan, onEvent)
    : openOnTestThread(plan, onEvent, respond, clock));
  relayEndings.push(end);
  const hostAndPort = { address: plan.address, port };
  return {
    hostAndPort: hostAndPort,
    env: relayEnvironment(hostAndPort, ca),
    requests,
    reports,
    untilRequested: async (count = 1) => {
      const requestCount = () => requests.filter((one) => one.path !== DRAINS_PATH).length;
      await changes.waitFor(
        () => (requestCount() >= count ? true : undefined),
        () => `${count} requests, of which ${requestCount()} came`,
      );
    },
    untilReported: () =>
      changes.waitFor(
        () => reports[0],
        () => "a report",
      ),
    streamCount: () => streamCount,
    untilSynchronized,
    send,
    crash,
    restart,
    freeze,
  };
}

type RunningRelay = RelayServer & {
  readonly untilSynchronized: () => Promise<void>;
  readonly end: () => Promise<unknown>;
};

async function openOnTestThread(
  plan: RelayPlan,
  onEvent: (event: RelayEvent) => void,
  respond: RelayRequestHandler | undefined,
  clock: TestClock | undefined,
): Promise<RunningRelay> {
  const server = await openRelay(plan, onEvent, respond, clock);
  return { ...server, untilSynchronized: () => Promise.resolve(), end: server.crash };
}

async function openOnThread(plan: RelayPlan, onEvent: (event: RelayEvent) => void): Promise<RunningRelay> {
  const thread = new Worker(new URL("fake-relay-thread.ts", import.meta.url), { workerData: plan });
  const pendingReplies: (() => void)[] = [];
  const port = await new Promise<number>((resolve, reject) => {
    thread.on("error", reject);
    thread.on("message", (message: ThreadMessage) => {
      if (message.kind === "listens") resolve(message.port);
      else if (message.kind === "done") pendingReplies.shift()?.();
      else onEvent(message);
    });
  });
  const send = (command: RelayCommand) =>
    new Promise<void>((resolve) => {
      pendingReplies.push(resolve);
      thread.postMessage(command);
    });
  return {
    port,
    send: (status) => void send({ kind: "send", status }),
    crash: () => send({ kind: "crash" }),
    restart: () => send({ kind: "restart" }),
    freeze: () => void send({ kind: "freeze" }),
    // The thread's messages arrive in order, so its reply to `flush` follows everything that it has received earlier.
    untilSynchronized: () => send({ kind: "flush" }),
    end: () => thread.terminate(),
  };
}

const relayEndings: (() => Promise<unknown>)[] = [];

export async function endRelays(): Promise<void> {
  for (const end of relayEndings.splice(0)) await end();
}
