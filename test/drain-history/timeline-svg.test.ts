import fc from "fast-check";
import { expect, test } from "vitest";
import { timelineOf } from "../../src/drain-history/drain-timeline.ts";
import { ticksTo } from "../../src/drain-history/time-text.ts";
import { timelineSvg } from "../../src/drain-history/timeline-svg.ts";
import { anyDrain } from "./any-drain.ts";
import { listElements } from "./elements-of.ts";
import { CLIENT, someDrain, someReport } from "./some-drain.ts";

const LONG_REPORT = someReport({
  outcome: "timeout",
  milliseconds: { withdrawing: 5_000, deregistration: 10_000, draining: 45_000, holding: 2_000 },
  left: [CLIENT, { ...CLIENT, ageMs: 0 }, { ...CLIENT, ageMs: 10_000_000 }],
  leftTotal: 27,
});

test("the SVG's phases follow each other, and its connections end when the hooks are answered", () => {
  const { endMs, bars } = timelineOf(someDrain({ report: LONG_REPORT }));
  expect(endMs).toBe(62_000);
  expect(bars.map(({ kind, fromMs, toMs }) => [kind, fromMs, toMs])).toEqual([
    ["withdrawing", 0, 5_000],
    ["deregistration", 5_000, 15_000],
    ["draining", 15_000, 60_000],
    ["holding", 60_000, 62_000],
    ["connection", 7_660, 60_000],
    ["connection", 60_000, 60_000],
    ["connection", 0, 60_000],
  ]);
});

test("the SVG's moments are the trigger, the end of the withdrawal, the answers to the hooks, and the end", () => {
  expect(timelineOf(someDrain({ report: LONG_REPORT })).moments).toEqual([
    { atMs: 0, label: "trigger: the manager's preStop hook" },
    { atMs: 5_000, label: "phase withdrawing ended" },
    { atMs: 60_000, label: "drain ended, hooks answered, 27 connections open", isFault: true },
    { atMs: 62_000, label: "done" },
  ]);
});

test("the SVG's moment 'withdrawn' is sorted by time among the other moments", () => {
  const momentLabelsOf = (withdrawnAfterMs: number): readonly string[] =>
    timelineOf(someDrain({ report: { ...LONG_REPORT, withdrawnAfterMs } })).moments.map(
      ({ atMs, label }) => `${atMs} ${label}`,
    );
  expect(momentLabelsOf(3_120)[1]).toBe("3120 withdrawn");
  expect(momentLabelsOf(0)[1]).toBe("0 withdrawn already");
  expect(momentLabelsOf(61_000)[3]).toBe("61000 withdrawn");
  expect(momentLabelsOf(1e11)[3]).toBe("62000 withdrawn");
  expect(momentLabelsOf(-1)).toHaveLength(4);
});

test("the SVG of a drain that ended before the withdrawal does not have a moment for the withdrawal", () => {
  const milliseconds = { withdrawing: 5_000, deregistration: 0, draining: 0, holding: 0 };
  const labels = timelineOf(someDrain({ report: someReport({ milliseconds }) })).moments.map(({ label }) => label);
  expect(labels).toEqual([expect.stringContaining("trigger"), expect.stringContaining("drain ended")]);
});

test("the SVG shows every phase, moment and connection, and the manager's reason", () => {
  const svg = timelineSvg(someDrain({ report: LONG_REPORT }));
  for (const expectedText of [
    "Drain of Pod shop/web-7d9f-abcde",
    "ReplicaSet web-7d9f, 2026-11-18 11:06:40 UTC",
    "10.0.0.9:41822",
  ]) {
    expect(svg).toContain(expectedText);
  }
  expect(svg.match(/<rect class="lc-(withdrawing|deregistration|draining|holding)"/g)).toHaveLength(4);
  expect(svg.match(/<rect class="lc-connection"/g)).toHaveLength(3);
  expect(svg.match(/<line class="lc-mark"/g)).toHaveLength(3);
  expect(svg.match(/<line class="lc-fault"/g)).toHaveLength(1);
  expect(svg).toContain(LONG_REPORT.why);
});

test("the SVG escapes markup in names, addresses and reasons", () => {
  const markup = `</text><script>alert(1)</script><image href="http://evil"/>&"'`;
  const left = [{ ...CLIENT, peer: markup, state: markup }];
  const report = someReport({ why: markup, evidenceSource: markup, left, leftTotal: 1 });
  const svg = timelineSvg(someDrain({ pod: markup, namespace: markup, ownerKind: markup, ownerName: markup, report }));
  expect(svg).not.toMatch(/<script|<image|"http:\/\/evil/);
  expect(new Set(listElements(svg))).toEqual(new Set(["svg", "style", "rect", "text", "line"]));
});

test("the SVG has question marks for characters that XML forbids and for bidirectional controls", () => {
  const svg = timelineSvg(someDrain({ pod: "a\u0000b\u001bc\u202ed\ud800e\uffff", ownerName: "ß🙂" }));
  expect(svg).toContain("shop/a?b?c?d?e?<");
  expect(svg).toContain("ß🙂");
});

test("the SVG of any drain is well formed, deterministic, and without scripts or external resources", () => {
  fc.assert(
    fc.property(anyDrain, (record) => {
      // Excludes records whose texts contain the output of a broken calculation.
      fc.pre(!/NaN|Infinity|undefined/.test(JSON.stringify(record)));
      const svg = timelineSvg(record);
      expect(timelineSvg(structuredClone(record))).toBe(svg);
      expect(new Set(listElements(svg))).toEqual(new Set(["svg", "style", "rect", "text", "line"]));
      expect(svg).toMatch(/^[^\p{Cf}\p{Cs}]*$/u);
      expect(svg).not.toMatch(/NaN|Infinity|undefined|url\(|@import|href=/);
      expect(svg.length).toBeLessThan(40_000);
    }),
  );
});

test("all bars of the SVG are inside the picture", () => {
  fc.assert(
    fc.property(anyDrain, (record) => {
      const svg = timelineSvg(record);
      for (const [, x = "", width = ""] of svg.matchAll(/<rect class="lc-[a-z]+" x="(\d+)" y="\d+" width="(\d+)"/g)) {
        expect(Number(x)).toBeGreaterThanOrEqual(336);
        expect(Number(x) + Number(width)).toBeLessThanOrEqual(960);
      }
    }),
  );
});

test("the axis of the SVG has three to eleven ascending ticks from zero within its range", () => {
  fc.assert(
    fc.property(fc.double({ min: 1_000, max: 4e11, noNaN: true }), (endMs) => {
      const moments = ticksTo(endMs).map(({ atMs }) => atMs);
      expect(moments.length).toBeGreaterThanOrEqual(3);
      expect(moments.length).toBeLessThanOrEqual(11);
      expect(moments[0]).toBe(0);
      expect(moments.at(-1)).toBeLessThanOrEqual(endMs);
      expect(new Set(ticksTo(endMs).map(({ text }) => text)).size).toBe(moments.length);
    }),
  );
});
