import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { drainPage } from "../../src/drain-history/page/drain-page.ts";
import { terminalTimeline } from "../../src/drain-history/terminal-timeline.ts";
import { anyDrain } from "./any-drain.ts";
import { CLIENT, runningReport, someDrain, someReport } from "./some-drain.ts";

describe("the terminal timeline", () => {
  test("draws each phase to scale, and lists the time of each transition", () => {
    const milliseconds = { withdrawing: 5_000, deregistration: 0, draining: 2_500, holding: 2_500 };
    const lines = terminalTimeline(someDrain({ report: someReport({ milliseconds }) }), 80);
    expect(lines.slice(0, 5).join("\n")).toBe(
      [
        "Drain of Pod shop/web-7d9f-abcde of ReplicaSet web-7d9f",
        "Pod web-7d9f-abcde drained 7.5s after the trigger (the manager's preStop hook):",
        "no traffic since the trigger.",
        "2026-11-18 11:06:40 UTC, drain 0123456789abcdef, evidence source netlink",
        "",
      ].join("\n"),
    );
    expect(lines.slice(5, 10)).toEqual([
      "                              0    1s   2s   3s   4s   5s   6s   7s   8s   9s",
      `withdrawing               5s  ${"█".repeat(25)}${"·".repeat(25)}`,
      `deregistration  took no time  ${"·".repeat(50)}`,
      `draining                2.5s  ${"·".repeat(25)}${"█".repeat(13)}${"·".repeat(12)}`,
      `holding                 2.5s  ${"·".repeat(38)}${"█".repeat(12)}`,
    ]);
    expect(lines.slice(10)).toHaveLength(4);
    expect(lines[10]).toMatch(/^ {4}0\.00 s {2}trigger/);
    expect(lines[12]).toMatch(/^ {4}7\.50 s {2}drain ended/);
  });

  test("of a running drain ends at its deadline, and does not have a line for the answers to hooks", () => {
    const lines = terminalTimeline(someDrain({ report: runningReport() }), 80);
    expect(lines.filter((line) => line.startsWith("   ") && / s {2}/.test(line))).toEqual([
      "    0.00 s  trigger: the manager's preStop hook",
      "    5.01 s  phase withdrawing ended",
      "   10.00 s  last report: draining, 1 connection open",
      "   65.00 s  deadline",
    ]);
  });

  test("lists open connections with their age, and counts those beyond the limit", () => {
    const left = Array.from({ length: 20 }, (_, index) => ({
      ...CLIENT,
      peer: `10.0.0.9:${50_000 + index}`,
      ageMs: 5_000,
    }));
    const milliseconds = { withdrawing: 5_000, deregistration: 0, draining: 5_000, holding: 0 };
    const report = someReport({ outcome: "timeout", milliseconds, left, leftTotal: 31 });
    const lines = terminalTimeline(someDrain({ report }), 80);
    const index = lines.indexOf(`10.0.0.9:50000                ${"·".repeat(25)}${"█".repeat(25)}`);
    expect(lines[index + 1]).toMatch(/^ {2}to .*8080, ESTABLISHED, observed for 5s$/);
    expect(lines).toContain("  and 23 more connections");
  });

  test("shows a connection of unknown age at the end of draining", () => {
    const left = [{ ...CLIENT, ageMs: 0 }];
    const milliseconds = { withdrawing: 5_000, deregistration: 0, draining: 5_000, holding: 0 };
    const lines = terminalTimeline(someDrain({ report: someReport({ milliseconds, left, leftTotal: 1 }) }), 80);
    expect(lines).toContain(`10.0.0.9:41822                ${"·".repeat(49)}█`);
    expect(lines.join("\n")).not.toContain("more connection");
  });

  test("shows the relay's status and the time of the withdrawal", () => {
    const report = someReport({ relay: "withdrawn", withdrawnAfterMs: 1_234 });
    const lines = terminalTimeline(someDrain({ report }), 120);
    expect(lines[2]).toContain("evidence source netlink, relay: no EndpointSlice had the Pod as");
    expect(lines).toContain("    1.23 s  withdrawn");
  });

  test.for([
    { preload: { processes: 0, connections: 4 }, title: "no process has loaded the preload library" },
    {
      preload: { processes: 1, connections: -1 },
      title: "1 process has loaded the preload library; connections not counted",
    },
    {
      preload: { processes: 3, connections: 20 },
      title: "3 processes have loaded the preload library; 20 connections were open when the drain started",
    },
  ])("shows the line of the preload library: $title", ({ preload, title }) => {
    const text = terminalTimeline(someDrain({ report: someReport({ preload }) }), 200).join("\n");
    expect(text).toContain(`preload: ${title}`);
    expect(drainPage(someDrain({ report: someReport({ preload }) }))).toContain(title);
  });

  test("draws a bar for a short phase, but not for a phase of 0 ms", () => {
    const noDurations = { withdrawing: 0, deregistration: 0, draining: 0, holding: 0 };
    const timelineWithoutPhases = terminalTimeline(
      someDrain({ report: someReport({ outcome: "not-needed", milliseconds: noDurations }) }),
      80,
    );
    expect(timelineWithoutPhases.join("\n")).not.toContain("█");
    const shortPhase = { ...noDurations, withdrawing: 3_600_000, draining: 1, holding: 3_600_000 };
    const lines = terminalTimeline(someDrain({ report: someReport({ milliseconds: shortPhase }) }), 80);
    expect(lines.find((line) => line.startsWith("draining"))).toMatch(/·█·+$/);
  });

  test("stays within its width for any record", () => {
    fc.assert(
      fc.property(anyDrain, fc.integer({ min: -5, max: 250 }), (drain, width) => {
        const lines = terminalTimeline(drain, width);
        expect(lines.filter((line) => line.length > Math.max(60, width))).toEqual([]);
        expect(lines.length).toBeGreaterThan(6);
      }),
    );
  });
});
