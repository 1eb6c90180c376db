/** Tests properties of merging the records of several replicas. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DrainRecord } from "../../src/drain-history/drain-record.ts";
import { DUPLICATE_WINDOW_MS, mergeDrains } from "../../src/drain-history/merge.ts";
import { runningReport, someDrain, someReport } from "./some-drain.ts";

const START_MS = 1_795_000_000_000;

const NO_RESETS = { draining: 0, stopping: 0, probes: 0, stoppingMs: 40 };

/** Has few distinct values, so that duplicates are frequent. */
const record: fc.Arbitrary<DrainRecord> = fc
  .record({
    id: fc.constantFrom("a-1", "a-2", "b-1", "b-2", "c-1"),
    uid: fc.constantFrom("u1", "u2"),
    why: fc.constantFrom("quiet", "deadline"),
    resets: fc.constantFrom(undefined, NO_RESETS, { ...NO_RESETS, stopping: 2 }),
    endedAtMs: fc.oneof(
      fc.constantFrom(0, START_MS, START_MS + DUPLICATE_WINDOW_MS, START_MS + DUPLICATE_WINDOW_MS + 1),
      fc.integer({ min: START_MS, max: START_MS + 4 * DUPLICATE_WINDOW_MS }),
    ),
  })
  .map(({ why, resets, ...fields }) => someDrain({ ...fields, report: someReport({ why, resets }) }));

const lists = fc.array(fc.array(record, { maxLength: 6 }), { maxLength: 4 });

function contentOf({ uid, report }: DrainRecord): string {
  return `${uid} ${report.why}`;
}

describe("the drains that are merged from several relay replicas", () => {
  test("contain the resets that another replica received at the Pod's end", () => {
    const first = someDrain({ id: "a-1" });
    const second = someDrain({
      id: "b-1",
      endedAtMs: first.endedAtMs - 300,
      report: someReport({ resets: NO_RESETS }),
    });
    const later = someDrain({ id: "b-1", endedAtMs: first.endedAtMs + 300, report: second.report });
    expect(mergeDrains([[first], [later]])).toEqual([{ ...first, report: second.report }]);
    expect(mergeDrains([[first], [second]])).toEqual([second]);
  });

  test("do not depend on the order of replicas and records", () => {
    const shuffled = lists.chain((replicas) =>
      fc.tuple(
        fc.constant(replicas),
        fc.shuffledSubarray(replicas.flat(), { minLength: replicas.flat().length }),
        fc.integer({ min: 0, max: 20 }),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([replicas, shuffledRecords, splitIndex]) => {
        expect(mergeDrains([shuffledRecords.slice(0, splitIndex), shuffledRecords.slice(splitIndex)])).toEqual(
          mergeDrains(replicas),
        );
      }),
    );
  });

  test("are the same if a replica is read twice or the result is merged again", () => {
    fc.assert(
      fc.property(lists, (all) => {
        const merged = mergeDrains(all);
        expect(mergeDrains([...all, ...all])).toEqual(merged);
        expect(mergeDrains([merged])).toEqual(merged);
      }),
    );
  });

  test("are sorted newest first, with unique ids and no equal content within a minute", () => {
    fc.assert(
      fc.property(lists, (all) => {
        const merged = mergeDrains(all);
        expect(new Set(merged.map(({ id }) => id)).size).toBe(merged.length);
        for (const [index, newer] of merged.entries()) {
          for (const older of merged.slice(index + 1)) {
            expect(newer.endedAtMs).toBeGreaterThanOrEqual(older.endedAtMs);
            if (contentOf(newer) !== contentOf(older) || older.endedAtMs === 0) continue;
            expect(newer.endedAtMs - older.endedAtMs).toBeGreaterThan(DUPLICATE_WINDOW_MS);
          }
        }
      }),
    );
  });

  test("omit only a record with a duplicate within a minute or a later record of the same id", () => {
    fc.assert(
      fc.property(lists, (all) => {
        const merged = mergeDrains(all);
        for (const one of all.flat()) {
          const isKept = merged.some((kept) => kept.id === one.id && kept.endedAtMs >= one.endedAtMs);
          const hasDuplicate = all
            .flat()
            .some(
              (other) =>
                merged.some(({ id, endedAtMs }) => id === other.id && endedAtMs === other.endedAtMs) &&
                all
                  .flat()
                  .some(
                    (last) =>
                      last.id === one.id && last.endedAtMs >= one.endedAtMs && contentOf(last) === contentOf(other),
                  ),
            );
          expect(isKept || hasDuplicate).toBe(true);
        }
      }),
    );
  });
});

test("a drain that was reported to two replicas is merged into the earlier record", () => {
  const first = someDrain({ id: "a-1", endedAtMs: START_MS });
  const duplicate = someDrain({ id: "b-7", endedAtMs: START_MS + 1_500 });
  expect(mergeDrains([[duplicate], [first]])).toEqual([first]);
});

describe("a running drain is merged", () => {
  const running = someDrain({ id: "a-1", endedAtMs: START_MS, report: runningReport() });
  const later = someDrain({ id: "b-1", endedAtMs: START_MS + 20_000, report: runningReport({ remainingMs: 35_000 }) });
  const ended = someDrain({ id: "b-2", endedAtMs: START_MS + 30_000 });

  test("into the later report of another replica", () => {
    expect(mergeDrains([[running], [later]])).toEqual([later]);
    expect(mergeDrains([[later], [running]])).toEqual([later]);
  });

  test("into the record of its end, even if that record's replica has a clock that is a little behind", () => {
    expect(mergeDrains([[later, running], [ended]])).toEqual([ended]);
    const early = { ...ended, endedAtMs: START_MS - DUPLICATE_WINDOW_MS };
    expect(mergeDrains([[running], [early]])).toEqual([early]);
  });

  test("neither into an earlier drain of its Pod nor into a drain with the same uid in another namespace", () => {
    const earlier = { ...ended, endedAtMs: START_MS - DUPLICATE_WINDOW_MS - 1 };
    expect(mergeDrains([[running], [earlier]])).toEqual([running, earlier]);
    const foreign = { ...ended, namespace: "evil" };
    expect(mergeDrains([[running], [foreign]])).toEqual([foreign, running]);
  });
});

test("two drains of one Pod in the same minute with different content are not merged", () => {
  const restart = someDrain({ id: "a-1", report: someReport({ outcome: "restarted" }) });
  const drain = someDrain({ id: "b-1" });
  expect(mergeDrains([[restart], [drain]])).toHaveLength(2);
});

test("drains of two Pods with equal content are not merged", () => {
  expect(mergeDrains([[someDrain({ id: "a-1" })], [someDrain({ id: "b-1", uid: "another" })]])).toHaveLength(2);
});

test("the latest of several records with the same id is used", () => {
  const early = someDrain({ report: someReport({ outcome: "restarted" }) });
  const late = someDrain({ endedAtMs: early.endedAtMs + 20_000 });
  expect(mergeDrains([[late, early]])).toEqual([late]);
});
