/** Tests every view of a drain whose manager died, of which only start, duration and cause are known. */
import { describe, expect, test } from "vitest";
import { drainsInText } from "../../src/cli/drains/drain-text.ts";
import { parseDrainNotice } from "../../src/drain-history/drain-notice.ts";
import type { DrainRecord } from "../../src/drain-history/drain-record.ts";
import { drainSentence } from "../../src/drain-history/drain-sentence.ts";
import { timelineOf } from "../../src/drain-history/drain-timeline.ts";
import { drainListPage, drainPage } from "../../src/drain-history/page/drain-page.ts";
import { terminalTimeline } from "../../src/drain-history/terminal-timeline.ts";
import { someDrain, someReport } from "./some-drain.ts";

const LOST_DRAIN: DrainRecord = someDrain({
  report: {
    ...someReport({ phase: "withdrawing", trigger: "none", evidenceSource: "none" }),
    outcome: "lost",
    milliseconds: { withdrawing: 1_200, deregistration: 0, draining: 0, holding: 0 },
    why: "Container lastcall ended with exit code 137.",
  },
});

describe("a drain with the outcome `lost`", () => {
  test("is accepted in the records of a replica", () => {
    expect(drainsInText(JSON.stringify({ drains: [LOST_DRAIN] }))).toEqual({
      drains: [LOST_DRAIN],
      unreadableCount: 0,
      isRecognized: true,
    });
  });

  test("is rejected in a manager's report", () => {
    expect(parseDrainNotice(LOST_DRAIN)).toEqual({
      ok: false,
      problem: expect.stringContaining('report.outcome is "lost", expected'),
    });
  });

  test("has a sentence without a trigger", () => {
    expect(drainSentence(LOST_DRAIN)).toBe(
      "Pod web-7d9f-abcde disappeared before its drain was reported. Container lastcall ended with exit code 137.",
    );
  });

  test("has one bar in its timeline, which is marked as a failure at its end", () => {
    const { bars, moments } = timelineOf(LOST_DRAIN);
    expect(bars.map(({ kind, toMs }) => [kind, toMs])).toEqual([["withdrawing", 1_200]]);
    expect(moments).toEqual([
      { atMs: 0, label: "first request to the relay" },
      { atMs: 1_200, label: "manager killed, hooks failed", isFault: true },
    ]);
    expect(terminalTimeline(LOST_DRAIN, 80).join("\n")).not.toContain("drain ended");
  });

  test("does not have a count of open connections or a trigger on the pages", () => {
    expect(drainListPage({ drains: [LOST_DRAIN], instance: "a", namespace: undefined })).toContain(
      '<td class="number" data-column="left open">unknown</td>',
    );
    expect(drainPage(LOST_DRAIN)).toContain('<td data-column="fact">trigger</td><td data-column="value">unknown</td>');
  });
});
