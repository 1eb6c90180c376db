/**
 * A relay as bad or as good as a test wants it, on a loopback address of its own: where it dies, no one else is given
 * its port.
 */
import { Worker } from "node:worker_threads";
import { generate } from "selfsigned";
import { VARIABLES } from "../../src/contract/manager-environment.ts";
import { DRAINS_PATH, type WithdrawalLine } from "../../src/contract/relay-wire.ts";
import type { TestClock } from "../clock/test-clock.ts";
import { ownAddress } from "../leases/own-address.ts";
import { createChanges } from "../time/changes.ts";
import {
  openRelay,
  type Question,
  type RelayAnswers,
  type RelayNews,
  type RelayPlan,
  type RelayServer,
} from "./fake-relay-server.ts";
import type { RelayOrder, ThreadNews } from "./fake-relay-thread.ts";

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

/** What a manager is given to reach a relay there. */
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

export const line = (over: Partial<WithdrawalLine> = {}): WithdrawalLine => ({
  state: "in",
  terminating: true,
  reason: "",
  ...over,
});

export type FakeRelay = {
  readonly at: RelayAt;
  readonly env: Record<string, string>;
  /** Tells this to all who ask, now and later. */
  readonly say: (what: WithdrawalLine) => void;
  readonly questions: readonly Question[];
  /** Reports, in the order of their arrival. */
  readonly notices: readonly Record<string, unknown>[];
  readonly asked: (count?: number) => Promise<void>;
  readonly reported: () => Promise<Record<string, unknown>>;
  /** Until all that the relay has seen by now stands in `questions`, `notices` and `streams`: it has a thread of its own. */
  readonly caughtUp: () => Promise<void>;
  /** Streams that are open. */
  readonly streams: () => number;
  /** Cuts all connections and accepts no more. */
  readonly die: () => Promise<void>;
  /** Listens again on the same port. */
  readonly rise: () => Promise<void>;
  /** Connections stay and nothing is written any more. */
  readonly freeze: () => void;
};

export type Relaying = {
  readonly ca?: Authority;
  readonly leaf?: Authority;
  readonly first?: WithdrawalLine;
  readonly pulses?: boolean;
  /** Answers in the relay's place, on the thread of the test. */
  readonly answers?: RelayAnswers;
  /** Pulses by it, on the thread of the test, which moves it. */
  readonly clock?: TestClock;
};

export async function startRelay(relaying: Relaying = {}): Promise<FakeRelay> {
  const ca = relaying.ca ?? (await authority());
  const plan: RelayPlan = {
    address: ownAddress(),
    leaf: relaying.leaf ?? (await leafOf(ca)),
    first: relaying.first ?? line(),
    pulses: relaying.pulses !== false,
  };
  const questions: Question[] = [];
  const notices: Record<string, unknown>[] = [];
  let streams = 0;
  const changes = createChanges();
  const hear = (news: RelayNews) => {
    if (news.kind === "question") questions.push(news.question);
    else if (news.kind === "notice") notices.push(news.notice);
    else streams = news.count;
    changes.tell();
  };
  const { answers, clock } = relaying;
  const { port, say, die, rise, freeze, caughtUp, end } = await (answers === undefined && clock === undefined
    ? openOnThread(plan, hear)
    : openHere(plan, hear, answers, clock));
  running.push(end);
  const at = { address: plan.address, port };
  return {
    at,
    env: relayEnvironment(at, ca),
    questions,
    notices,
    asked: async (count = 1) => {
      const asked = () => questions.filter((one) => one.path !== DRAINS_PATH).length;
      await changes.find(
        () => (asked() >= count ? true : undefined),
        () => `${count} questions, of which ${asked()} came`,
      );
    },
    reported: () =>
      changes.find(
        () => notices[0],
        () => "a report",
      ),
    streams: () => streams,
    caughtUp,
    say,
    die,
    rise,
    freeze,
  };
}

type Running = RelayServer & { readonly caughtUp: () => Promise<void>; readonly end: () => Promise<unknown> };

async function openHere(
  plan: RelayPlan,
  hear: (news: RelayNews) => void,
  answers: RelayAnswers | undefined,
  clock: TestClock | undefined,
): Promise<Running> {
  const server = await openRelay(plan, hear, answers, clock);
  return { ...server, caughtUp: () => Promise.resolve(), end: server.die };
}

async function openOnThread(plan: RelayPlan, hear: (news: RelayNews) => void): Promise<Running> {
  const thread = new Worker(new URL("fake-relay-thread.ts", import.meta.url), { workerData: plan });
  const obeyed: (() => void)[] = [];
  const port = await new Promise<number>((resolve, reject) => {
    thread.on("error", reject);
    thread.on("message", (news: ThreadNews) => {
      if (news.kind === "listens") resolve(news.port);
      else if (news.kind === "obeyed") obeyed.shift()?.();
      else hear(news);
    });
  });
  const order = (what: RelayOrder) =>
    new Promise<void>((resolve) => {
      obeyed.push(resolve);
      thread.postMessage(what);
    });
  return {
    port,
    say: (what) => void order({ kind: "say", what }),
    die: () => order({ kind: "die" }),
    rise: () => order({ kind: "rise" }),
    freeze: () => void order({ kind: "freeze" }),
    // What it tells comes in turn, and this answer last.
    caughtUp: () => order({ kind: "report" }),
    end: () => thread.terminate(),
  };
}

const running: (() => Promise<unknown>)[] = [];

/** Ends whatever the tests of a file left. */
export async function endRelays(): Promise<void> {
  for (const end of running.splice(0)) await end();
}
