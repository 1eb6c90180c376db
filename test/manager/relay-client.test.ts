import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { RelayEndpoint } from "../../src/manager/ports.ts";
import type { ClientCallbacks } from "../../src/manager/relay/client-process.ts";
import type { WithdrawalStatus } from "../../src/manager/relay/ipc-messages.ts";
import type { RelayDemand } from "../../src/manager/relay/relay-client.ts";
import { createRelayClient, NO_RESPONSE_YET } from "../../src/manager/relay/relay-client.ts";
import { NO_ENDPOINT } from "../../src/manager/relay/relay-settings.ts";
import { createProcessWatch } from "../../src/manager/traffic/other-processes.ts";
import { toTcpSocket } from "./socket-lists.ts";
import { CLIENT_ADDRESS, createTestMonitor, listener, POD_ADDRESS, reading, socket } from "./traffic-room.ts";

const STATUS_DEMAND: RelayDemand = { kind: "status", delayEndMs: -1 };
const STATUS_LINE = 'status {"state":"in","terminating":true,"reason":""}\n';

/** Creates the manager's side of the connection to its relay client, with fake client processes. */
function createHarness() {
  const statuses: WithdrawalStatus[] = [];
  const reports: string[] = [];
  const clients: { readonly callbacks: ClientCallbacks; readonly commands: string[]; isKilled: boolean }[] = [];
  const relay = createRelayClient({
    start: (callbacks) => {
      const client = { callbacks, commands: [] as string[], isKilled: false };
      clients.push(client);
      return {
        write: (line) => client.commands.push(line),
        kill: () => {
          client.isKilled = true;
        },
      };
    },
    nowMs: () => Date.now(),
    onStatus: (status) => statuses.push(status),
    onReported: (failure) => reports.push(failure),
  });
  const write = (text: string, at = clients.length - 1) => clients[at]?.callbacks.onOutput(Buffer.from(text));
  return { relay, statuses, reports, clients, write, last: () => statuses.at(-1) };
}

describe("the manager's control of the relay's client process", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("runs the client only while a drain needs the relay's status", () => {
    const { relay, clients } = createHarness();
    relay.setDemand({ kind: "none" });
    expect(clients).toEqual([]);
    relay.setDemand(STATUS_DEMAND);
    relay.setDemand(STATUS_DEMAND);
    expect(clients).toHaveLength(1);
    relay.setDemand({ kind: "none" });
    expect(clients[0]?.isKilled).toBe(true);
  });

  test("passes each status of the relay to the drain once", () => {
    const { relay, statuses, write } = createHarness();
    relay.setDemand(STATUS_DEMAND);
    expect(statuses.map((status) => status.reason)).toEqual([NO_RESPONSE_YET]);
    write(STATUS_LINE.slice(0, 20));
    write(STATUS_LINE.slice(20) + STATUS_LINE + STATUS_LINE);
    write("lost the relay stopped responding\n");
    expect(statuses.slice(1).map((status) => [status.endpointState, status.reason])).toEqual([
      ["in", ""],
      ["unknown", "the relay stopped responding"],
    ]);
  });

  test("sends the client the end of the drain delay once and the disconnect command once", () => {
    const { relay, clients } = createHarness();
    relay.setDemand(STATUS_DEMAND);
    relay.setDemand({ kind: "status", delayEndMs: Date.now() + 4_000 });
    relay.setDemand({ kind: "status", delayEndMs: Date.now() + 4_000 });
    relay.setDemand({ kind: "report" });
    relay.setDemand({ kind: "report" });
    expect(clients[0]?.commands).toEqual(["drain-delay 4000\n", "disconnect\n"]);
  });

  test("passes the status `unknown` when the client exits, and restarts the client at most three times", () => {
    const { relay, clients, write, last } = createHarness();
    for (let count = 0; count < 10; count += 1) {
      relay.setDemand(STATUS_DEMAND);
      vi.advanceTimersByTime(1_100);
      write(STATUS_LINE);
      clients.at(-1)?.callbacks.onEnd("killed");
      expect(last()).toMatchObject({ endpointState: "unknown", reason: "the relay client ended: killed" });
    }
    expect(clients).toHaveLength(4);
  });

  test("ends a client that exceeds its output limit, and ignores its later output", () => {
    const { relay, clients, write, last, statuses } = createHarness();
    relay.setDemand(STATUS_DEMAND);
    write("dial\n".repeat(201));
    expect(clients[0]?.isKilled).toBe(true);
    expect(last()?.reason).toBe("the relay client exceeded its output limit");
    const countBefore = statuses.length;
    write(STATUS_LINE);
    expect(statuses).toHaveLength(countBefore);
  });

  test("ends a client whose line exceeds the limit", () => {
    const { relay, clients, write } = createHarness();
    relay.setDemand(STATUS_DEMAND);
    for (let count = 0; count < 5; count += 1) write("x".repeat(4_096));
    expect(clients[0]?.isKilled).toBe(true);
  });

  test("ends a client that hangs while a drain waits for the status", () => {
    const { relay, clients, write, last } = createHarness();
    relay.setDemand({ kind: "status", delayEndMs: Date.now() + 1_000 });
    write(STATUS_LINE);
    vi.advanceTimersByTime(4_900);
    expect(last()?.endpointState).toBe("in");
    vi.advanceTimersByTime(200);
    expect(last()?.reason).toBe("the relay client does not respond");
    expect(clients[0]?.isKilled).toBe(true);
  });

  test("starts a client to send a report, logs the result, and ends the client if it does not exit", () => {
    const { relay, clients, write, reports } = createHarness();
    relay.deliver("{}");
    relay.setDemand({ kind: "none" });
    expect(clients[0]?.commands).toEqual(["report {}\n"]);
    write("undelivered the relay responded with status 500\n");
    clients[0]?.callbacks.onEnd("status 0");
    relay.deliver("{}");
    vi.advanceTimersByTime(6_000);
    expect(reports).toEqual([
      "the relay responded with status 500",
      "the relay client did not deliver the report in time",
    ]);
    expect(clients[1]?.isKilled).toBe(true);
  });

  test("replaces a report that is being delivered by a later report", () => {
    const { relay, clients, reports } = createHarness();
    relay.deliver("first");
    relay.deliver("second");
    expect(clients.map(({ commands }) => commands)).toEqual([["report first\n"], ["report second\n"]]);
    expect(clients[0]?.isKilled).toBe(true);
    expect(reports).toEqual(["a later report replaced this report"]);
  });

  test("waits no longer than the limit for a report before the manager's exit", () => {
    const { relay, clients } = createHarness();
    const onDelivered = vi.fn();
    relay.awaitDelivery(100, onDelivered);
    expect(onDelivered).toHaveBeenCalledTimes(1);
    relay.deliver("{}");
    relay.awaitDelivery(100, onDelivered);
    expect(onDelivered).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(100);
    expect(onDelivered).toHaveBeenCalledTimes(2);
    clients[0]?.callbacks.onEnd("status 0");
    expect(onDelivered).toHaveBeenCalledTimes(2);
  });

  test("counts the client's connections", () => {
    const { relay, write } = createHarness();
    relay.setDemand(STATUS_DEMAND);
    write("dial\ndial\nwhat\n");
    expect(relay.dialCount()).toBe(2);
  });
});

describe("connections of the relay's client", () => {
  const readingWithOpens = (passiveOpens: number, activeOpens: number) =>
    reading([listener()], { passiveOpens, activeOpens });

  test("do not hide a client's connection that opened and closed between two samples", () => {
    const { sample } = createTestMonitor();
    sample(readingWithOpens(100, 50), 1_000);
    // Since the first sample, a client opened one connection to the Pod, and the relay's client opened one to the relay.
    expect(sample(readingWithOpens(101, 51), 2_000, 0, 0, 1).lastEvidenceMs).toBe(2_000);
  });

  test("do not count as traffic", () => {
    const { sample } = createTestMonitor();
    sample(readingWithOpens(100, 50), 1_000);
    expect(sample(readingWithOpens(100, 51), 2_000, 0, 0, 1).lastEvidenceMs).toBe(-1);
  });

  test("do not delay the answer to the hook of a mesh proxy", () => {
    const relay: RelayEndpoint = { address: "10.96.0.9", port: 443 };
    const proxyListener = { ...listener(), localPort: 15_006, uid: 1_337 };
    const relayConnection = socket({
      localPort: 40_000,
      peerAddress: relay.address,
      peerPort: relay.port,
      uid: 65_532,
    });
    const hasOtherProcesses = (endpoint: RelayEndpoint) => {
      const watch = createProcessWatch(17_890, endpoint);
      watch.startSample();
      for (const one of [proxyListener, relayConnection]) watch.add(toTcpSocket(one));
      return watch.finishSample().hasOthers;
    };
    expect(hasOtherProcesses(relay)).toBe(false);
    expect(hasOtherProcesses(NO_ENDPOINT)).toBe(true);
    expect(hasOtherProcesses({ address: CLIENT_ADDRESS, port: 443 })).toBe(true);
    expect(POD_ADDRESS).not.toBe(relay.address);
  });
});
