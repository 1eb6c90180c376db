/** What replicas remember, merged: the same whatever the order, and nothing lost. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DrainRecord } from "../../src/drain-history/drain-record.ts";
import { mergeDrains, SAME_REPORT_WITHIN_MS } from "../../src/drain-history/merge.ts";
import { someDrain, someReport } from "./some-drain.ts";

const START_MS = 1_795_000_000_000;

/** Few names, words and moments, so that everything meets everything. */
const record: fc.Arbitrary<DrainRecord> = fc
  .record({
    id: fc.constantFrom("a-1", "a-2", "b-1", "b-2", "c-1"),
    uid: fc.constantFrom("u1", "u2"),
    why: fc.constantFrom("quiet", "deadline"),
    endedAtMs: fc.oneof(
      fc.constantFrom(0, START_MS, START_MS + SAME_REPORT_WITHIN_MS, START_MS + SAME_REPORT_WITHIN_MS + 1),
      fc.integer({ min: START_MS, max: START_MS + 4 * SAME_REPORT_WITHIN_MS }),
    ),
  })
  .map(({ why, ...rest }) => someDrain({ ...rest, report: someReport({ why }) }));

const lists = fc.array(fc.array(record, { maxLength: 6 }), { maxLength: 4 });

function told({ uid, report }: DrainRecord): string {
  return `${uid} ${report.why}`;
}

describe("merged drains", () => {
  test("are the same whatever the order of replicas and of their records", () => {
    const shuffled = lists.chain((first) =>
      fc.tuple(
        fc.constant(first),
        fc.shuffledSubarray(first.flat(), { minLength: first.flat().length }),
        fc.integer({ min: 0, max: 20 }),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([first, mixed, cut]) => {
        expect(mergeDrains([mixed.slice(0, cut), mixed.slice(cut)])).toEqual(mergeDrains(first));
      }),
    );
  });

  test("are the same when a replica is heard twice, or the result is merged again", () => {
    fc.assert(
      fc.property(lists, (all) => {
        const merged = mergeDrains(all);
        expect(mergeDrains([...all, ...all])).toEqual(merged);
        expect(mergeDrains([merged])).toEqual(merged);
      }),
    );
  });

  test("come newest first, each id once, and no two tell the same within a minute", () => {
    fc.assert(
      fc.property(lists, (all) => {
        const merged = mergeDrains(all);
        expect(new Set(merged.map(({ id }) => id)).size).toBe(merged.length);
        for (const [at, newer] of merged.entries()) {
          for (const older of merged.slice(at + 1)) {
            expect(newer.endedAtMs).toBeGreaterThanOrEqual(older.endedAtMs);
            if (told(newer) !== told(older) || older.endedAtMs === 0) continue;
            expect(newer.endedAtMs - older.endedAtMs).toBeGreaterThan(SAME_REPORT_WITHIN_MS);
          }
        }
      }),
    );
  });

  test("lose nothing: what is missing was told by another id within a minute, or later under its own", () => {
    fc.assert(
      fc.property(lists, (all) => {
        const merged = mergeDrains(all);
        for (const one of all.flat()) {
          const isKept = merged.some((kept) => kept.id === one.id && kept.endedAtMs >= one.endedAtMs);
          const isToldElsewhere = all
            .flat()
            .some(
              (other) =>
                merged.includes(other) &&
                all
                  .flat()
                  .some((last) => last.id === one.id && last.endedAtMs >= one.endedAtMs && told(last) === told(other)),
            );
          expect(isKept || isToldElsewhere).toBe(true);
        }
      }),
    );
  });
});

test("a drain that two replicas were told of is there once, as the first of them heard it", () => {
  const first = someDrain({ id: "a-1", endedAtMs: START_MS });
  const again = someDrain({ id: "b-7", endedAtMs: START_MS + 1_500 });
  expect(mergeDrains([[again], [first]])).toEqual([first]);
});

test("a Pod whose drains say different things in the same minute has both", () => {
  const restart = someDrain({ id: "a-1", report: someReport({ outcome: "restarted" }) });
  const drain = someDrain({ id: "b-1" });
  expect(mergeDrains([[restart], [drain]])).toHaveLength(2);
});

test("the same words about two Pods are two drains", () => {
  expect(mergeDrains([[someDrain({ id: "a-1" })], [someDrain({ id: "b-1", uid: "another" })]])).toHaveLength(2);
});

test("of one id the latest words count", () => {
  const early = someDrain({ report: someReport({ outcome: "restarted" }) });
  const late = someDrain({ endedAtMs: early.endedAtMs + 20_000 });
  expect(mergeDrains([[late, early]])).toEqual([late]);
});
