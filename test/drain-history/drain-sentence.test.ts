import { describe, expect, test } from "vitest";
import { drainSentence } from "../../src/drain-history/drain-sentence.ts";
import { spanText } from "../../src/drain-history/time-text.ts";
import { CLIENT, runningReport, someDrain, someReport } from "./some-drain.ts";

test("the sentence about a drain has the outcome, the duration, the trigger and the reason", () => {
  expect(drainSentence(someDrain())).toBe(
    "Pod web-7d9f-abcde drained 7.3s after the trigger (the manager's preStop hook): no traffic since the trigger.",
  );
});

test("the sentence about a drain lists open connections unless the manager's reason contains them", () => {
  const left = [CLIENT, { ...CLIENT, peer: "[fd00::9]:5", local: "[fd00::5]:443", ageMs: 0 }, CLIENT, CLIENT];
  const report = someReport({ outcome: "timeout", left, leftTotal: 9, why: "The deadline came." });
  expect(drainSentence(someDrain({ report }))).toBe(
    "Pod web-7d9f-abcde reached its drain deadline 7.3s after the trigger (the manager's preStop hook). The deadline came. 9 connections were still open: 10.0.0.9:41822 to port 8080 for 52.3s, [fd00::9]:5 to port 443, 10.0.0.9:41822 to port 8080 for 52.3s and 6 more.",
  );
  const namedClient = someReport({ outcome: "timeout", left, leftTotal: 9, why: "10.0.0.9:41822 stayed." });
  expect(drainSentence(someDrain({ report: namedClient }))).not.toContain("still open");
});

test("the sentence about a running drain contains its elapsed time, the time until its deadline, and its clients", () => {
  expect(drainSentence(someDrain({ report: runningReport() }))).toBe(
    "Pod web-7d9f-abcde is still draining 10s after the trigger (the manager's preStop hook), for at most 55s more, with 1 connection still open: 10.0.0.9:41822 to port 8080 for 52.3s.",
  );
});

test("the sentence about a drain counts open connections without details", () => {
  const report = someReport({ leftTotal: 1, why: "" });
  expect(drainSentence(someDrain({ report }))).toContain("preStop hook). 1 connection was still open.");
});

test("the sentence about a drain with the outcome restarted does not have a trigger or a time", () => {
  const report = someReport({ outcome: "restarted", trigger: "none", why: "Only one container was stopped." });
  expect(drainSentence(someDrain({ report }))).toBe(
    "Pod web-7d9f-abcde was not drained, because only its containers restarted. Only one container was stopped.",
  );
});

describe("a span of time", () => {
  test.for([
    [0, "0ms"],
    [999, "999ms"],
    [999.6, "1s"],
    [1_000, "1s"],
    [7_349, "7.3s"],
    [60_000, "60s"],
    [119_949, "119.9s"],
    [119_999, "2m"],
    [125_400, "2m 5s"],
    [3_599_999, "1h"],
    [11_040_000, "3h 4m"],
    [86_399_999, "1d"],
    [100_000_000_000, "1157d 10h"],
  ] as const)("of %s ms is formatted as %s", ([ms, text]) => {
    expect(spanText(ms)).toBe(text);
  });
});
