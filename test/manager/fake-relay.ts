/** Starts a fake relay with faults on demand, on a loopback address of its own, so that no other program takes its port. */
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
  type RelayAnswers,
  type RelayEvent,
  type RelayPlan,
  type RelayServer,
} from "./fake-relay-server.ts";
import type { RelayCommand, ThreadMessage } from "./fake-relay-thread.ts";

export const RELAY_NAME = "relay-1.lastcall.internal";
export const CREDENTIAL = "k1.cGF5bG9hZA.bWFj";

export type Authority = { readonly cert: string; readonly key: string };

export async function authority(name = "a relay's authority"): Promise<Authority> {
  const made = await generate([{ name: "commonName", value: name }], {
    keyType: "ec",
    curve: "P-256",
    algorithm: "sha256",
    extensions: [{ name: "basicConstraints", cA: true, critical: true }],
  });
  return { cert: made.cert, key: made.private };
}

export type Leaf = { readonly name?: string; readonly from?: Date; readonly until?: Date };

export async function leafOf(ca: Authority, leaf: Leaf = {}): Promise<Authority> {
  const name = leaf.name ?? RELAY_NAME;
  const made = await generate([{ name: "commonName", value: name }], {
    keyType: "ec",
    curve: "P-256",
    algorithm: "sha256",
    ca,
    ...(leaf.from === undefined ? {} : { notBeforeDate: leaf.from }),
    ...(leaf.until === undefined ? {} : { notAfterDate: leaf.until }),
    extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: name }] }],
  });
  return { cert: made.cert, key: made.private };
}

export type RelayAt = { readonly address: string; readonly port: number };

export function relayEnvironment(at: RelayAt, ca: Authority): Record<string, string> {
  return {
    [VARIABLES.relayAddress]: `${at.address}:${at.port}`,
    [VARIABLES.relayName]: RELAY_NAME,
    [VARIABLES.relayCa]: ca.cert.replace(/-----[A-Z ]+-----|\s/g, ""),
    [VARIABLES.relayCredential]: CREDENTIAL,
    POD_NAME: "web-0",
    POD_NAMESPACE: "shop",
    POD_UID: "11111111-2222-3333-4444-555555555555",
    POD_IPS: "10.0.0.7,fd00::7",
  };
}

export const statusLine = (over: Partial<WithdrawalStatusLine> = {}): WithdrawalStatusLine => ({
  state: "in",
  terminating: true,
  reason: "",
  ...over,
});

export type FakeRelay = {
  readonly at: RelayAt;
  readonly env: Record<string, string>;
  /** Sends the line on all streams, open and later ones. */
  readonly send: (status: WithdrawalStatusLine) => void;
  readonly requests: readonly ReceivedRequest[];
  /** Reports, in the order of their arrival. */
  readonly notices: readonly Record<string, unknown>[];
  readonly requested: (count?: number) => Promise<void>;
  readonly reported: () => Promise<Record<string, unknown>>;
  /** Resolves when `requests`, `notices` and `streams` hold everything received so far by the relay's thread. */
  readonly settled: () => Promise<void>;
  readonly streams: () => number;
  /** Cuts all connections and accepts no more. */
  readonly die: () => Promise<void>;
  readonly rise: () => Promise<void>;
  /** Keeps the connections open and writes nothing more. */
  readonly freeze: () => void;
};

export type Relaying = {
  readonly ca?: Authority;
  readonly leaf?: Authority;
  readonly first?: WithdrawalStatusLine;
  readonly heartbeat?: boolean;
  /** Replaces the relay's request handler; runs on the thread of the test. */
  readonly answers?: RelayAnswers;
  /** Times the heartbeat; the relay then runs on the thread of the test. */
  readonly clock?: TestClock;
};

export async function startRelay(relaying: Relaying = {}): Promise<FakeRelay> {
  const ca = relaying.ca ?? (await authority());
  const plan: RelayPlan = {
    address: ownAddress(),
    leaf: relaying.leaf ?? (await leafOf(ca)),
    first: relaying.first ?? statusLine(),
    heartbeat: relaying.heartbeat !== false,
  };
  const requests: ReceivedRequest[] = [];
  const notices: Record<string, unknown>[] = [];
  let streams = 0;
  const changes = createChanges();
  const onEvent = (event: RelayEvent) => {
    if (event.kind === "request") requests.push(event.request);
    else if (event.kind === "notice") notices.push(event.notice);
    else streams = event.count;
    changes.notify();
  };
  const { answers, clock } = relaying;
  const { port, send, die, rise, freeze, settled, end } = await (answers === undefined && clock === undefined
    ? openOnThread(plan, onEvent)
    : openHere(plan, onEvent, answers, clock));
  running.push(end);
  const at = { address: plan.address, port };
  return {
    at,
    env: relayEnvironment(at, ca),
    requests,
    notices,
    requested: async (count = 1) => {
      const received = () => requests.filter((one) => one.path !== DRAINS_PATH).length;
      await changes.find(
        () => (received() >= count ? true : undefined),
        () => `${count} requests, of which ${received()} came`,
      );
    },
    reported: () =>
      changes.find(
        () => notices[0],
        () => "a report",
      ),
    streams: () => streams,
    settled,
    send,
    die,
    rise,
    freeze,
  };
}

type Running = RelayServer & { readonly settled: () => Promise<void>; readonly end: () => Promise<unknown> };

async function openHere(
  plan: RelayPlan,
  onEvent: (event: RelayEvent) => void,
  answers: RelayAnswers | undefined,
  clock: TestClock | undefined,
): Promise<Running> {
  const server = await openRelay(plan, onEvent, answers, clock);
  return { ...server, settled: () => Promise.resolve(), end: server.die };
}

async function openOnThread(plan: RelayPlan, onEvent: (event: RelayEvent) => void): Promise<Running> {
  const thread = new Worker(new URL("fake-relay-thread.ts", import.meta.url), { workerData: plan });
  const pending: (() => void)[] = [];
  const port = await new Promise<number>((resolve, reject) => {
    thread.on("error", reject);
    thread.on("message", (message: ThreadMessage) => {
      if (message.kind === "listens") resolve(message.port);
      else if (message.kind === "done") pending.shift()?.();
      else onEvent(message);
    });
  });
  const send = (command: RelayCommand) =>
    new Promise<void>((resolve) => {
      pending.push(resolve);
      thread.postMessage(command);
    });
  return {
    port,
    send: (status) => void send({ kind: "send", status }),
    die: () => send({ kind: "die" }),
    rise: () => send({ kind: "rise" }),
    freeze: () => void send({ kind: "freeze" }),
    // The thread's messages arrive in order, and this reply last.
    settled: () => send({ kind: "report" }),
    end: () => thread.terminate(),
  };
}

const running: (() => Promise<unknown>)[] = [];

export async function endRelays(): Promise<void> {
  for (const end of running.splice(0)) await end();
}
