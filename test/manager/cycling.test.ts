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

const idleSample = (received: number, sent: number): ConnectionSample => ({
  received,
  sent,
  receivedMs: 40,
  sentMs: 30,
});
const waitingSample = (received: number, sent: number, receivedMs = 20): ConnectionSample => ({
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
  const lastObservation = observations.at(-1);
  if (lastObservation === undefined) throw new Error("no sample");
  return {
    ...lastObservation.cycling,
    lastEvidenceMs: lastObservation.lastEvidenceMs,
    nowMs: START_MS + (samples.length - 1) * SAMPLE_MS,
  };
}

const TWO_EXCHANGES = [idleSample(5, 5), idleSample(6, 6), idleSample(7, 7)];

describe("a connection", () => {
  test.for<[string, readonly ConnectionSample[], number]>([
    ["is cycling after two exchanges between three samples", TWO_EXCHANGES, 1],
    [
      "is cycling after two exchanges whose requests and responses are in different samples",
      [5, 6, 7].flatMap(exchangeSamples),
      1,
    ],
    ["is not cycling in the first sample, for any number of earlier exchanges", [idleSample(50, 50)], 0],
    ["is not cycling after one exchange", [idleSample(5, 5), idleSample(6, 6), idleSample(6, 6)], 0],
    ["is not cycling while only the client sends, as in an upload", [5, 6, 7, 8, 9].map((n) => waitingSample(n, 5)), 0],
    [
      "is not cycling while only the server sends, as in a download or an event stream",
      [5, 6, 7, 8].map((n) => idleSample(5, n)),
      0,
    ],
    [
      "is not cycling while the client sends the body after an interim response",
      [waitingSample(5, 5), waitingSample(6, 6), waitingSample(7, 6), waitingSample(8, 6)],
      0,
    ],
  ])("%s", ([, samples, connectionCount]) => {
    expect(cyclingAfter(samples)).toMatchObject({ connectionCount });
  });

  test("is not cycling if it reuses the addresses and ports of a cycling connection", () => {
    expect(cyclingAfter([...TWO_EXCHANGES, idleSample(1, 1)])).toMatchObject({ connectionCount: 0 });
  });

  test("is never cycling if the samples do not contain segment counters", () => {
    const { sample } = createTestMonitor();
    const withoutCounters = { dataSegmentsReceived: -1, dataSegmentsSent: -1, pureAcksSent: -1 };
    const observations = TWO_EXCHANGES.map((values, index) =>
      sample(reading([listener(), connection(values, withoutCounters)]), START_MS + index * SAMPLE_MS),
    );
    expect(observations.map(({ cycling }) => cycling.connectionCount)).toEqual([0, 0, 0]);
  });
});

function exchangeSamples(n: number): readonly ConnectionSample[] {
  return [waitingSample(n, n - 1), idleSample(n, n)];
}

describe("the traffic of cycling connections", () => {
  test("does not count as the traffic of other connections", () => {
    const cycling = cyclingAfter([...TWO_EXCHANGES, waitingSample(8, 7)]);
    expect(cycling).toMatchObject({ outstandingResponses: 1, othersActivity: "quiet", lastEvidenceMs: cycling.nowMs });
    expect(cycling.othersEvidenceMs).toBeLessThan(cycling.nowMs - SAMPLE_MS);
  });

  test("counts as the traffic of other connections after a response has been outstanding for a second", () => {
    const requestSamples = Array.from({ length: 8 }, (_, n) => waitingSample(8, 7, 10 + n * SAMPLE_MS));
    expect(cyclingAfter([...TWO_EXCHANGES, ...requestSamples.slice(0, 7)])).toMatchObject({
      outstandingResponses: 1,
      othersActivity: "quiet",
    });
    const cycling = cyclingAfter([...TWO_EXCHANGES, ...requestSamples]);
    expect(cycling).toMatchObject({
      connectionCount: 1,
      outstandingResponses: 0,
      othersActivity: "busy",
      othersEvidenceMs: cycling.nowMs,
    });
  });

  test("counts as the traffic of other connections after an upload has lasted for a second, even if its last data is new", () => {
    const uploadSamples = Array.from({ length: 8 }, (_, n) => waitingSample(8 + n, 7, 10));
    expect(cyclingAfter([...TWO_EXCHANGES, ...uploadSamples.slice(0, 7)])).toMatchObject({
      outstandingResponses: 1,
      othersActivity: "quiet",
    });
    expect(cyclingAfter([...TWO_EXCHANGES, ...uploadSamples])).toMatchObject({
      outstandingResponses: 0,
      othersActivity: "busy",
    });
  });

  test("does not prevent the detection of a new connection", () => {
    const newConnection = connection(waitingSample(1, 0, 5), { peerPort: 50_001, bytesReceived: 100 });
    const cycling = cyclingAfter([...TWO_EXCHANGES, idleSample(8, 8)], (index) => (index === 3 ? [newConnection] : []));
    expect(cycling).toMatchObject({ connectionCount: 1, othersActivity: "busy", othersEvidenceMs: cycling.nowMs });
  });

  test("and the kubelet's probes do not change the time of the last new connection", () => {
    const probedMonitor = createTestMonitor({ kubeletProbes: [{ port: 8080, periodMs: 1_000 }] });
    probedMonitor.monitor.addKubelet(NODE_ADDRESS);
    const probeConnection = connection(idleSample(1, 1), { peerAddress: NODE_ADDRESS, peerPort: 50_002 });
    const newConnection = connection(idleSample(1, 1), { peerPort: 50_001 });
    const lists = [[], [], [newConnection], [newConnection, probeConnection], [newConnection, probeConnection]];
    const observations = lists.map((others, index) =>
      probedMonitor.sample(
        reading([listener(), connection(idleSample(5 + index, 5 + index)), ...others]),
        START_MS + index * SAMPLE_MS,
      ),
    );
    const arrivalMs = START_MS + 2 * SAMPLE_MS;
    expect(observations.map(({ cycling }) => cycling.lastArrivalMs)).toEqual([-1, -1, arrivalMs, arrivalMs, arrivalMs]);
  });

  test("does not prevent the detection of a connection that waits in the backlog", () => {
    const { sample } = createTestMonitor();
    const lists = TWO_EXCHANGES.map((values, index) => [
      listener({ receiveQueue: index === 2 ? 1 : 0 }),
      connection(values),
    ]);
    const observations = lists.map((sockets, index) => sample(reading(sockets), START_MS + index * SAMPLE_MS));
    const nowMs = START_MS + 2 * SAMPLE_MS;
    expect(observations.at(-1)?.cycling).toMatchObject({ othersActivity: "busy", othersEvidenceMs: nowMs });
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
