import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { classifyEnding, type DrainEndState } from "./ending.ts";
import { endings } from "./protocol-scenario.ts";
import { SCENARIOS } from "./protocol-scenarios.ts";
import { insertProtocolTable, smallestSetting } from "./protocols-page.ts";

const PAGE = new URL("../../../docs/protocols.md", import.meta.url);

test("docs/protocols.md has a row with the expected endings of each scenario (written by test:programs -- -u)", () => {
  const page = readFileSync(PAGE, "utf8");
  expect(page).toBe(insertProtocolTable(page, SCENARIOS));
});

test("the names of the protocol scenarios are unique", () => {
  const names = SCENARIOS.map(({ protocol, behaviour }) => `${protocol}: ${behaviour}`);
  expect(new Set(names).size).toBe(names.length);
});

test("a page without the markers around its table causes an error", () => {
  expect(() => insertProtocolTable("no markers here", SCENARIOS)).toThrow("no section between");
});

test.for([
  ["is on time by default", "nothing", endings("quiet", "deadline", "quiet", "quiet")],
  ["is on time only with a count", "`active-url`", endings("deadline", "deadline", "quiet", "quiet")],
  ["varies by default and is on time with a count", "`active-url`", endings("unsure", "deadline", "quiet", "quiet")],
  [
    "is on time only with a count and a drain request",
    "`active-url`, `drain-url`",
    endings("deadline", "deadline", "cut", "quiet"),
  ],
  ["is never on time", "nothing helps", endings("deadline", "deadline", "cut", "deadline")],
] as const)("the recommended setting of a row whose ending %s is: %s", ([, setting, measured]) => {
  expect(smallestSetting(measured)).toBe(setting);
});

const DRAIN_END_STATE: DrainEndState = {
  criterion: "quiet",
  outcome: "drained",
  leftTotal: 1,
  activeRequests: 0,
  openConnections: 1,
  sinceTrafficMs: 1_000,
  quietPeriodMs: 1_000,
};

test.for([
  { title: "a quiet period after the last traffic", overrides: {}, ending: "quiet" },
  { title: "too early if a request is unanswered", overrides: { activeRequests: 1 }, ending: "cut" },
  { title: "too early if traffic continues", overrides: { sinceTrafficMs: 300 }, ending: "cut" },
  { title: "on time if no connection is open", overrides: { leftTotal: 0, sinceTrafficMs: 0 }, ending: "quiet" },
  {
    title: "the deadline if the report's outcome is timeout",
    overrides: { outcome: "timeout", activeRequests: 1 },
    ending: "deadline",
  },
  {
    title: "a close if the last connection is closed",
    overrides: { criterion: "connections", openConnections: 0 },
    ending: "closed",
  },
  { title: "too early if a connection is open", overrides: { criterion: "connections" }, ending: "cut" },
] as const)("the ending of a drain is $title", ({ overrides, ending }) => {
  expect(classifyEnding({ ...DRAIN_END_STATE, ...overrides })).toBe(ending);
});

test("a report whose outcome is not drained or timeout causes an error", () => {
  expect(() => classifyEnding({ ...DRAIN_END_STATE, outcome: "restarted" })).toThrow("ended as restarted");
});
