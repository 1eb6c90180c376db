/** Generates arbitrary drain records, including hostile text, for property tests of pictures and pages. */
import fc from "fast-check";
import { RECORDED_OUTCOMES } from "../../src/drain-history/drain-notice.ts";
import type { DrainRecord } from "../../src/drain-history/drain-record.ts";

const text = fc.oneof(
  fc.string({ maxLength: 1_200 }),
  fc.string({ unit: fc.constantFrom("<", ">", "&", '"', "'", "/", "a", " ", "]]>", "<!--", "</style>") }),
);
const duration = fc.oneof(fc.nat(100_000), fc.nat(), fc.constantFrom(0, 1, 100_000_000_000));

export const anyDrain: fc.Arbitrary<DrainRecord> = fc.record({
  id: text,
  namespace: text,
  pod: text,
  uid: text,
  ownerKind: text,
  ownerName: text,
  endedAtMs: fc.oneof(fc.nat(), fc.double()),
  report: fc.record({
    version: fc.constant(1),
    phase: fc.constantFrom("holding", "done"),
    outcome: fc.constantFrom(...RECORDED_OUTCOMES),
    trigger: fc.constantFrom("none", "hook", "relay", "sigterm"),
    milliseconds: fc.record({ withdrawing: duration, deregistration: duration, draining: duration, holding: duration }),
    left: fc.array(fc.record({ local: text, peer: text, ageMs: duration, state: text }), { maxLength: 20 }),
    leftTotal: fc.nat(),
    evidenceSource: text,
    why: text,
    relay: text,
    remainingMs: fc.option(duration, { nil: undefined }),
    withdrawnAfterMs: fc.oneof(fc.constant(-1), duration),
    resets: fc.option(fc.record({ draining: fc.nat(), stopping: fc.nat(), probes: fc.nat(), stoppingMs: duration }), {
      nil: undefined,
    }),
    preload: fc.option(fc.record({ processes: fc.nat(), connections: fc.integer({ min: -1 }) }), { nil: undefined }),
  }),
});
