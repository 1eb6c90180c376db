/** Tests which connections count as cycling, and what remains of the Pod's traffic without them. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CYCLING, NO_EXCHANGE, nextExchangeStep } from "../../src/manager/traffic/cycling.ts";
import type { TextSocket } from "./socket-lists.ts";
import { createTestMonitor, listener, NODE_ADDRESS, reading, socket } from "./traffic-room.ts";

/** Counters and ages of the client's connection in one sample. */
type ConnectionSample = {
  readonly received: number;
  readonly sent: number;
  readonly receivedMs: number;
  readonly sentMs: number;
};

const SAMPLE_MS = 150;
const START_MS = 10_000;

const connection = (
  { received, sent, receivedMs, sentMs }: ConnectionSample,
  overrides: Partial<TextSocket> = {},
): TextSocket =>
  socket({
    ...{ dataSegmentsReceived: received, dataSegmentsSent: sent, pureAcksSent: 1 },
    ...{ lastDataReceivedMs: receivedMs, lastDataSentMs: sentMs, lastAckReceivedMs: Math.max(0, sentMs - 1) },
    ...overrides,
  });

const idle = (received: number, sent: number): ConnectionSample => ({ received, sent, receivedMs: 40, sentMs: 30 });
const waiting = (received: number, sent: number, receivedMs = 20): ConnectionSample => ({
  received,
  sent,
  receivedMs,
  sentMs: 3_000,
});

/** Samples one connection every 150 ms. @returns the cycling connections of the last sample */
function cyclingAfter(
  samples: readonly ConnectionSample[],
  others: (index: number) => readonly TextSocket[] = () => [],
) {
  const { sample } = createTestMonitor();
  const observations = samples.map((values, index) =>
    sample(reading([listener(), connection(values), ...others(index)]), START_MS + index * SAMPLE_MS),
  );
  const last = observations.at(-1);
  if (last === undefined) throw new Error("no sample");
  return { ...last.cycling, lastEvidenceMs: last.lastEvidenceMs, nowMs: START_MS + (samples.length - 1) * SAMPLE_MS };
}

const TWO_EXCHANGES = [idle(5, 5), idle(6, 6), idle(7, 7)];

describe("a connection", () => {
  test.for<[string, readonly ConnectionSample[], number]>([
    ["is cycling after two exchanges between three samples", TWO_EXCHANGES, 1],
    [
      "is cycling after two exchanges whose requests and responses are in different samples",
      [5, 6, 7].flatMap(requested),
      1,
    ],
    ["is not cycling in the first sample, for any number of earlier exchanges", [idle(50, 50)], 0],
    ["is not cycling after one exchange", [idle(5, 5), idle(6, 6), idle(6, 6)], 0],
    ["is not cycling while only the client sends, as in an upload", [5, 6, 7, 8, 9].map((n) => waiting(n, 5)), 0],
    [
      "is not cycling while only the server sends, as in a download or an event stream",
      [5, 6, 7, 8].map((n) => idle(5, n)),
      0,
    ],
    [
      "is not cycling while the client sends the body after an interim response",
      [waiting(5, 5), waiting(6, 6), waiting(7, 6), waiting(8, 6)],
      0,
    ],
  ])("%s", ([, samples, connections]) => {
    expect(cyclingAfter(samples)).toMatchObject({ connections });
  });

  test("is not cycling if it reuses the addresses and ports of a cycling connection", () => {
    expect(cyclingAfter([...TWO_EXCHANGES, idle(1, 1)])).toMatchObject({ connections: 0 });
  });

  test("is never cycling if the samples do not contain segment counters", () => {
    const { sample } = createTestMonitor();
    const uncounted = { dataSegmentsReceived: -1, dataSegmentsSent: -1, pureAcksSent: -1 };
    const observed = TWO_EXCHANGES.map((values, index) =>
      sample(reading([listener(), connection(values, uncounted)]), START_MS + index * SAMPLE_MS),
    );
    expect(observed.map(({ cycling }) => cycling.connections)).toEqual([0, 0, 0]);
  });
});

function requested(n: number): readonly ConnectionSample[] {
  return [waiting(n, n - 1), idle(n, n)];
}

describe("the traffic of cycling connections", () => {
  test("does not count as the traffic of other connections", () => {
    const found = cyclingAfter([...TWO_EXCHANGES, waiting(8, 7)]);
    expect(found).toMatchObject({ outstanding: 1, othersActivity: "quiet", lastEvidenceMs: found.nowMs });
    expect(found.othersEvidenceMs).toBeLessThan(found.nowMs - SAMPLE_MS);
  });

  test("counts as the traffic of other connections after a response has been outstanding for a second", () => {
    const request = Array.from({ length: 8 }, (_, n) => waiting(8, 7, 10 + n * SAMPLE_MS));
    expect(cyclingAfter([...TWO_EXCHANGES, ...request.slice(0, 7)])).toMatchObject({
      outstanding: 1,
      othersActivity: "quiet",
    });
    const found = cyclingAfter([...TWO_EXCHANGES, ...request]);
    expect(found).toMatchObject({
      connections: 1,
      outstanding: 0,
      othersActivity: "busy",
      othersEvidenceMs: found.nowMs,
    });
  });

  test("counts as the traffic of other connections after an upload has lasted for a second, even if its last data is new", () => {
    const upload = Array.from({ length: 8 }, (_, n) => waiting(8 + n, 7, 10));
    expect(cyclingAfter([...TWO_EXCHANGES, ...upload.slice(0, 7)])).toMatchObject({
      outstanding: 1,
      othersActivity: "quiet",
    });
    expect(cyclingAfter([...TWO_EXCHANGES, ...upload])).toMatchObject({ outstanding: 0, othersActivity: "busy" });
  });

  test("does not prevent the detection of a new connection", () => {
    const newcomer = connection(waiting(1, 0, 5), { peerPort: 50_001, bytesReceived: 100 });
    const found = cyclingAfter([...TWO_EXCHANGES, idle(8, 8)], (index) => (index === 3 ? [newcomer] : []));
    expect(found).toMatchObject({ connections: 1, othersActivity: "busy", othersEvidenceMs: found.nowMs });
  });

  test("and the kubelet's probes do not change the time of the last new connection", () => {
    const probed = createTestMonitor({ kubeletProbes: [{ port: 8080, periodMs: 1_000 }] });
    probed.monitor.addKubelet(NODE_ADDRESS);
    const probe = connection(idle(1, 1), { peerAddress: NODE_ADDRESS, peerPort: 50_002 });
    const newcomer = connection(idle(1, 1), { peerPort: 50_001 });
    const lists = [[], [], [newcomer], [newcomer, probe], [newcomer, probe]];
    const observed = lists.map((others, index) =>
      probed.sample(
        reading([listener(), connection(idle(5 + index, 5 + index)), ...others]),
        START_MS + index * SAMPLE_MS,
      ),
    );
    const arrivalMs = START_MS + 2 * SAMPLE_MS;
    expect(observed.map(({ cycling }) => cycling.lastArrivalMs)).toEqual([-1, -1, arrivalMs, arrivalMs, arrivalMs]);
  });

  test("does not prevent the detection of a connection that waits in the backlog", () => {
    const { sample } = createTestMonitor();
    const lists = TWO_EXCHANGES.map((values, index) => [
      listener({ receiveQueue: index === 2 ? 1 : 0 }),
      connection(values),
    ]);
    const observed = lists.map((sockets, index) => sample(reading(sockets), START_MS + index * SAMPLE_MS));
    const nowMs = START_MS + 2 * SAMPLE_MS;
    expect(observed.at(-1)?.cycling).toMatchObject({ othersActivity: "busy", othersEvidenceMs: nowMs });
  });
});

test("the progress of a connection towards cycling never decreases, and advances by at most one exchange per sample", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.boolean())), (samples) => {
      let step = NO_EXCHANGE;
      for (const [hasReceived, hasSent] of samples) {
        const next = nextExchangeStep(step, hasReceived, hasSent);
        expect(next).toBeGreaterThanOrEqual(step);
        expect(next).toBeLessThanOrEqual(Math.min(CYCLING, step + 2));
        if (!hasReceived && !hasSent) expect(next).toBe(step);
        step = next;
      }
    }),
  );
});
