import fc from "fast-check";
import { expect, test } from "vitest";
import { formatDuration, parseDurationMs } from "../../src/contract/duration.ts";

test.for([
  { text: "250ms", ms: 250 },
  { text: "30s", ms: 30_000 },
  { text: "2m", ms: 120_000 },
  { text: "1h", ms: 3_600_000 },
  { text: "0s", ms: 0 },
])("the duration $text is read as $ms ms", ({ text, ms }) => {
  expect(parseDurationMs(text)).toBe(ms);
});

test.for(["", "30", " 5s", "5s ", "-1s", "1e9s", "NaN", "1.5s", "5S", "５s", "5 s", "1234567s", "s", "5d", "0x5s"])(
  "the duration %j is rejected",
  (text) => {
    expect(parseDurationMs(text)).toBeUndefined();
  },
);

test.for([
  { ms: 60_000, text: "60s" },
  { ms: 90_000, text: "90s" },
  { ms: 120_000, text: "2m" },
  { ms: 7_200_000, text: "2h" },
  { ms: 1_500, text: "1500ms" },
])("the duration $ms ms is written as $text", ({ ms, text }) => {
  expect(formatDuration(ms)).toBe(text);
});

test("a formatted duration is parsed to the same value", () => {
  const anyDurationMs = fc.oneof(
    fc.nat({ max: 999_999 }),
    fc.nat({ max: 999_999 }).map((seconds) => seconds * 1_000),
    fc.nat({ max: 999_999 }).map((hours) => hours * 3_600_000),
  );
  fc.assert(fc.property(anyDurationMs, (ms) => parseDurationMs(formatDuration(ms)) === ms));
});
