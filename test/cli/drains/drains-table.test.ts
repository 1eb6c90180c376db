/** Tests the column widths and truncation of the drains table. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ageText, clockText, tableFor } from "../../../src/cli/drains/drains-table.ts";
import { createShownDrains } from "../../../src/cli/drains/watch-drains.ts";
import { anyDrain } from "../../drain-history/any-drain.ts";
import { runningReport, someDrain, someReport } from "../../drain-history/some-drain.ts";

const TIME_COLUMN = { title: "AGE", text: () => "5m" };

function tableLinesOf(
  drains: Parameters<typeof tableFor>[0]["drains"],
  width: number,
  isGrowing = false,
): readonly string[] {
  const table = tableFor({ drains, width, timeColumn: TIME_COLUMN, isGrowing });
  return [table.header, ...drains.map(table.row)];
}

describe("the table of drains", () => {
  test("truncates names in the middle, so that the reason has a third of the line", () => {
    const drain = someDrain({
      namespace: "team-payments-production",
      pod: "checkout-service-7d4b9c6f5d-x2k9q",
      ownerName: "checkout-service-7d4b9c6f5d",
      report: someReport({
        why: "Released 65.2s after the trigger: the deadline came with 3 connections still open.",
        resets: { draining: 0, stopping: 0, probes: 0, stoppingMs: 800 },
      }),
    });
    expect(tableLinesOf([drain], 80)).toEqual([
      "AGE  NAMESPACE  POD        OWNER      OUTCOME  TOOK  RESETS  WHY",
      "5m   team…tion  chec…2k9q  rs/c…6f5d  drained  7.3s  0       the deadline came …",
    ]);
    expect(tableLinesOf([drain], 120)[1]).toBe(
      "5m   team-pay…roduction  checkout-…f5d-x2k9q  rs/c…6f5d  drained  7.3s  0       the deadline came with 3 connections st…",
    );
  });

  test("states first the connections that the Pod's stop reset", () => {
    const report = someReport({ resets: { draining: 0, stopping: 12, probes: 2, stoppingMs: 800 } });
    expect(tableLinesOf([someDrain({ report })], 160)[1]).toMatch(
      / 12 {6}cut at most 12 connections, of which 2 may be probes of the kubelet; no traffic since/,
    );
  });

  test("stays within its width with one printable line per drain, for any record", () => {
    const unusualText = fc.string({
      unit: fc.constantFrom("a", "\u001b", "\u202e", "\n", "\u{e0041}", "ß"),
      maxLength: 40,
    });
    const names = fc.record({
      namespace: unusualText,
      pod: unusualText,
      ownerKind: unusualText,
      ownerName: unusualText,
    });
    const drain = fc.tuple(anyDrain, names, unusualText).map(([record, name, why]) => {
      return { ...record, ...name, report: { ...record.report, why } };
    });
    const drains = fc.array(fc.oneof(anyDrain, drain), { maxLength: 5 });
    fc.assert(
      fc.property(drains, fc.integer({ min: 0, max: 200 }), fc.boolean(), (sampleDrains, width, isGrowing) => {
        for (const line of tableLinesOf(sampleDrains, width, isGrowing)) {
          expect([...line].length).toBeLessThanOrEqual(Math.max(78, width));
          expect(line).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
        }
      }),
    );
  });

  test("of a watch reserves column widths for later drains", () => {
    const table = tableFor({ drains: [], width: 120, timeColumn: TIME_COLUMN, isGrowing: true });
    const at = table.header.indexOf("WHY");
    const row = table.row(someDrain({ pod: "checkout-service-7d4b9c6f5d-x2k9q" }));
    expect(row.slice(at)).toBe("no traffic since the trigger.");
  });
});

test.for([
  { seconds: -5, age: "0s" },
  { seconds: 119, age: "119s" },
  { seconds: 120, age: "2m" },
  { seconds: 7_199, age: "119m" },
  { seconds: 7_200, age: "2h" },
  { seconds: 172_800, age: "2d" },
])("the table shows a drain that ended $seconds s ago with the age $age", ({ seconds, age }) => {
  expect(ageText(1_000_000_000_000, 1_000_000_000_000 + seconds * 1_000)).toBe(age);
});

test("the table shows the phase of a running drain, and a watch shows the drain only after its end", () => {
  const record = someDrain({ report: runningReport() });
  expect(tableLinesOf([record], 200)[1]).toMatch(
    / draining +10s +– +Still draining, for at most 55s more, with 1 connection still open/,
  );
  const shownDrains = createShownDrains();
  expect(shownDrains.selectNew([[record]])).toEqual([]);
  const end = someDrain({ endedAtMs: record.endedAtMs + 9_000 });
  expect(shownDrains.selectNew([[record, end]])).toEqual([end]);
});

test("the table shows an unknown time as a dash", () => {
  expect([ageText(0, 5), clockText(0)]).toEqual(["–", "–"]);
});

test("a watch shows a drain again if the Pod's stop reset connections", () => {
  const shownDrains = createShownDrains();
  const first = someDrain();
  const createEndedDrain = (stopping: number) =>
    someDrain({ report: someReport({ resets: { draining: 0, stopping, probes: 0, stoppingMs: 800 } }) });
  expect(shownDrains.selectNew([[first]])).toEqual([first]);
  expect(shownDrains.selectNew([[createEndedDrain(0)]])).toEqual([]);
  expect(shownDrains.selectNew([[createEndedDrain(1)]])).toEqual([createEndedDrain(1)]);
  expect(shownDrains.selectNew([[createEndedDrain(1)]])).toEqual([]);
});

test("a watch shows a recorded drain only once, even after many other drains", () => {
  const shownDrains = createShownDrains(10);
  const repeatedDrain = someDrain({ id: "kept", uid: "kept" });
  expect(shownDrains.selectNew([[repeatedDrain]])).toEqual([repeatedDrain]);
  for (let count = 0; count < 50; count += 1) {
    const otherDrain = someDrain({ id: `n-${count}`, uid: `n-${count}`, endedAtMs: repeatedDrain.endedAtMs + count });
    expect(shownDrains.selectNew([[repeatedDrain, otherDrain]])).toEqual([otherDrain]);
  }
});
