import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { RelayEndpoint } from "../../src/manager/ports.ts";
import type { ClientEars } from "../../src/manager/relay/client-process.ts";
import type { WithdrawalStatus } from "../../src/manager/relay/ipc-messages.ts";
import type { RelayDemand } from "../../src/manager/relay/relay-client.ts";
import { createRelayClient, NO_ANSWER_YET } from "../../src/manager/relay/relay-client.ts";
import { NO_ENDPOINT } from "../../src/manager/relay/relay-settings.ts";
import { createNeighbourWatch } from "../../src/manager/traffic/neighbours.ts";
import { CLIENT, judging, listener, POD, reading, socket } from "./judge-room.ts";
import { inWords } from "./socket-lists.ts";

const ASK: RelayDemand = { kind: "ask", floorEndMs: -1 };
const SAID = 'said {"state":"in","terminating":true,"reason":""}\n';

/** A manager's side whose clients are played by the test. */
function manager() {
  const words: WithdrawalStatus[] = [];
  const reports: string[] = [];
  const clients: { readonly ears: ClientEars; readonly orders: string[]; killed: boolean }[] = [];
  const relay = createRelayClient({
    start: (ears) => {
      const client = { ears, orders: [] as string[], killed: false };
      clients.push(client);
      return {
        write: (line) => client.orders.push(line),
        kill: () => {
          client.killed = true;
        },
      };
    },
    nowMs: () => Date.now(),
    onWord: (word) => words.push(word),
    onReported: (failure) => reports.push(failure),
  });
  const speaks = (text: string, at = clients.length - 1) => clients[at]?.ears.onOutput(Buffer.from(text));
  return { relay, words, reports, clients, speaks, last: () => words.at(-1) };
}

describe("the manager's side of its relay client", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("starts nothing until a drain asks, and ends the client when no one asks any more", () => {
    const { relay, clients } = manager();
    relay.follow({ kind: "nothing" });
    expect(clients).toEqual([]);
    relay.follow(ASK);
    relay.follow(ASK);
    expect(clients).toHaveLength(1);
    relay.follow({ kind: "nothing" });
    expect(clients[0]?.killed).toBe(true);
  });

  test("hands on each word once", () => {
    const { relay, words, speaks } = manager();
    relay.follow(ASK);
    expect(words.map((word) => word.reason)).toEqual([NO_ANSWER_YET]);
    speaks(SAID.slice(0, 20));
    speaks(SAID.slice(20) + SAID + SAID);
    speaks("lost it fell silent\n");
    expect(words.slice(1).map((word) => [word.offered, word.reason])).toEqual([
      ["in", ""],
      ["unknown", "it fell silent"],
    ]);
  });

  test("tells the client once when the delay is over, and when it may rest", () => {
    const { relay, clients } = manager();
    relay.follow(ASK);
    relay.follow({ kind: "ask", floorEndMs: Date.now() + 4_000 });
    relay.follow({ kind: "ask", floorEndMs: Date.now() + 4_000 });
    relay.follow({ kind: "rest" });
    relay.follow({ kind: "rest" });
    expect(clients[0]?.orders).toEqual(["floor 4000\n", "rest\n"]);
  });

  test("knows nothing any more when the client dies, and starts it again, but not for ever", () => {
    const { relay, clients, speaks, last } = manager();
    for (let count = 0; count < 10; count += 1) {
      relay.follow(ASK);
      vi.advanceTimersByTime(1_100);
      speaks(SAID);
      clients.at(-1)?.ears.onEnd("killed");
      expect(last()).toMatchObject({ offered: "unknown", reason: "the relay client ended: killed" });
    }
    expect(clients).toHaveLength(4);
  });

  test("ends a client that floods, and hears no more of it", () => {
    const { relay, clients, speaks, last, words } = manager();
    relay.follow(ASK);
    speaks("dials\n".repeat(201));
    expect(clients[0]?.killed).toBe(true);
    expect(last()?.reason).toBe("the relay client floods");
    const heard = words.length;
    speaks(SAID);
    expect(words).toHaveLength(heard);
  });

  test("ends a client whose line has no end", () => {
    const { relay, clients, speaks } = manager();
    relay.follow(ASK);
    for (let count = 0; count < 5; count += 1) speaks("x".repeat(4_096));
    expect(clients[0]?.killed).toBe(true);
  });

  test("counts no more on a client that hangs while a drain waits", () => {
    const { relay, clients, speaks, last } = manager();
    relay.follow({ kind: "ask", floorEndMs: Date.now() + 1_000 });
    speaks(SAID);
    vi.advanceTimersByTime(4_900);
    expect(last()?.offered).toBe("in");
    vi.advanceTimersByTime(200);
    expect(last()?.reason).toBe("the relay client hangs");
    expect(clients[0]?.killed).toBe(true);
  });

  test("starts a client for a report, says how that went, and ends one that does not end", () => {
    const { relay, clients, speaks, reports } = manager();
    relay.deliver("{}");
    relay.follow({ kind: "nothing" });
    expect(clients[0]?.orders).toEqual(["report {}\n"]);
    speaks("undelivered it answered 500\n");
    clients[0]?.ears.onEnd("status 0");
    relay.deliver("{}");
    vi.advanceTimersByTime(6_000);
    expect(reports).toEqual(["it answered 500", "the relay client did not end"]);
    expect(clients[1]?.killed).toBe(true);
  });

  test("gives a report on its way a moment before the manager's exit, and no more", () => {
    const { relay, clients } = manager();
    const done = vi.fn();
    relay.settle(done);
    expect(done).toHaveBeenCalledTimes(1);
    relay.deliver("{}");
    relay.settle(done);
    expect(done).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(100);
    expect(done).toHaveBeenCalledTimes(2);
    clients[0]?.ears.onEnd("status 0");
    expect(done).toHaveBeenCalledTimes(2);
  });

  test("counts the client's connections", () => {
    const { relay, speaks } = manager();
    relay.follow(ASK);
    speaks("dials\ndials\nwhat\n");
    expect(relay.dials()).toBe(2);
  });
});

describe("the client's own connections", () => {
  const opens = (passiveOpens: number, activeOpens: number) => reading([listener()], { passiveOpens, activeOpens });

  test("hide no connection from outside that came and went", () => {
    const { look } = judging();
    look(opens(100, 50), 1_000);
    // One from a client, and one of our own to the relay.
    expect(look(opens(101, 51), 2_000, 0, 0, 1).lastEvidenceMs).toBe(2_000);
  });

  test("are no traffic themselves", () => {
    const { look } = judging();
    look(opens(100, 50), 1_000);
    expect(look(opens(100, 51), 2_000, 0, 0, 1).lastEvidenceMs).toBe(-1);
  });

  test("do not hold a mesh proxy", () => {
    const relay: RelayEndpoint = { address: "10.96.0.9", port: 443 };
    const proxy = { ...listener(), localPort: 15_006, uid: 1_337 };
    const ours = socket({ localPort: 40_000, peerAddress: relay.address, peerPort: relay.port, uid: 65_532 });
    const others = (endpoint: RelayEndpoint) => {
      const watch = createNeighbourWatch(17_890, endpoint);
      watch.begin();
      for (const one of [proxy, ours]) watch.see(inWords(one));
      return watch.end().others;
    };
    expect(others(relay)).toBe(false);
    expect(others(NO_ENDPOINT)).toBe(true);
    expect(others({ address: CLIENT, port: 443 })).toBe(true);
    expect(POD).not.toBe(relay.address);
  });
});
