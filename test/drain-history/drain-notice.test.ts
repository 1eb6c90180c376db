import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDrainNotice } from "../../src/drain-history/drain-notice.ts";
import { CLIENT, someReport } from "./some-drain.ts";

type Fields = Record<string, unknown>;

function noticeWith(report: Fields, identity: Fields = {}): unknown {
  return { namespace: "shop", pod: "web-1", uid: "u-1", ...identity, report: { ...someReport(), ...report } };
}

function problemIn(value: unknown): string {
  const reading = parseDrainNotice(value);
  return reading.ok ? "" : reading.problem;
}

test("a complete drain notice is read unchanged", () => {
  const notice = noticeWith({ left: [CLIENT], leftTotal: 27, outcome: "timeout" });
  expect(parseDrainNotice(JSON.parse(JSON.stringify(notice)))).toEqual({ ok: true, notice });
});

test("the relay's status in a drain notice is optional", () => {
  for (const withdrawnAfterMs of [-1, 0, 3_120]) {
    const notice = noticeWith({ relay: "unknown: no answer", withdrawnAfterMs });
    expect(parseDrainNotice(notice)).toEqual({ ok: true, notice });
  }
  expect(problemIn(noticeWith({ relay: 1 }))).toBe("report.relay is 1, expected a string.");
  expect(problemIn(noticeWith({ withdrawnAfterMs: -2 }))).toContain(
    "report.withdrawnAfterMs is -2, expected a number from 0",
  );
  const reading = parseDrainNotice(noticeWith({ relay: "\n".repeat(1_000) }));
  expect(reading.ok ? reading.notice.report.relay : "").toBe(`${"?".repeat(197)}...`);
});

test("the counts of closed clients in a drain notice are optional", () => {
  for (const preload of [
    { processes: 0, connections: -1 },
    { processes: 7, connections: 2_300 },
  ]) {
    const notice = noticeWith({ preload });
    expect(parseDrainNotice(notice)).toEqual({ ok: true, notice });
  }
  expect(problemIn(noticeWith({ preload: 1 }))).toBe("report.preload is 1, expected an object.");
  expect(problemIn(noticeWith({ preload: { processes: -1, connections: 0 } }))).toContain(
    "report.preload.processes is -1, expected a number from 0",
  );
});

test("the resets in a drain notice are optional", () => {
  const resets = { draining: 3, stopping: 1, probes: 0, stoppingMs: 950 };
  const notice = noticeWith({ resets });
  expect(parseDrainNotice(notice)).toEqual({ ok: true, notice });
  expect(problemIn(noticeWith({ resets: [] }))).toBe("report.resets is a list, expected an object.");
  for (const field of Object.keys(resets)) {
    const problem = problemIn(noticeWith({ resets: { ...resets, [field]: -1 } }));
    expect(problem).toContain(`report.resets.${field} is -1, expected a number from 0`);
  }
});

test("unknown fields in the drain notice of a newer manager are ignored", () => {
  const reading = parseDrainNotice(noticeWith({ novelty: { deep: [1] } }, { more: "words" }));
  expect(reading).toEqual({ ok: true, notice: noticeWith({}) });
});

describe("a drain notice is rejected, with place and value, for", () => {
  test.for([
    { title: "a list instead of an object", value: [], problem: "the notice is a list, expected an object." },
    { title: "null", value: null, problem: "the notice is null, expected an object." },
    {
      title: "a missing report",
      value: { namespace: "a", pod: "b", uid: "c" },
      problem: "report is missing, expected an",
    },
    { title: "another version", value: noticeWith({ version: 2 }), problem: "report.version is 2, expected 1." },
    {
      title: "a version in quotes",
      value: noticeWith({ version: "1" }),
      problem: 'report.version is "1", expected 1.',
    },
    {
      title: "an unknown outcome",
      value: noticeWith({ outcome: "won" }),
      problem: 'report.outcome is "won", expected one of',
    },
    {
      title: "a running drain without a deadline",
      value: noticeWith({ outcome: "none" }),
      problem: "report.remainingMs is ",
    },
    {
      title: "a property name that objects inherit",
      value: noticeWith({ phase: "constructor" }),
      problem: "report.phase is ",
    },
    {
      title: "an unknown trigger",
      value: noticeWith({ trigger: 7 }),
      problem: "report.trigger is 7, expected one of none, hook",
    },
    {
      title: "a list instead of a string",
      value: noticeWith({ why: ["a"] }),
      problem: "report.why is a list, expected a string.",
    },
    {
      title: "a missing string",
      value: noticeWith({ evidenceSource: undefined }),
      problem: "report.evidenceSource is missing, expected a string.",
    },
    {
      title: "an object instead of a list",
      value: noticeWith({ left: {} }),
      problem: "report.left is an object, expected a list.",
    },
    {
      title: "ten thousand connections",
      value: noticeWith({ left: Array.from({ length: 10_000 }, () => CLIENT), leftTotal: 10_000 }),
      problem: "report.left has 10000 entries, expected at most 20.",
    },
    {
      title: "a total below the number of listed connections",
      value: noticeWith({ left: [CLIENT], leftTotal: 0 }),
      problem: "report.leftTotal is 0, expected at least 1, the number of entries in report.left.",
    },
    {
      title: "a connection that is not an object",
      value: noticeWith({ left: [CLIENT, "x"], leftTotal: 2 }),
      problem: 'report.left[1] is "x", expected an object.',
    },
    {
      title: "markup as the Pod's name",
      value: noticeWith({}, { pod: "<svg/onload=a>" }),
      problem: 'pod is "<svg/onload=a>"',
    },
    {
      title: "a path as the namespace",
      value: noticeWith({}, { namespace: "../kube" }),
      problem: 'namespace is "../kube"',
    },
    {
      title: "a uid with a line break",
      value: noticeWith({}, { uid: "u\nv" }),
      problem: 'uid is "u?v", expected the uid of a Pod.',
    },
    {
      title: "a name of a megabyte",
      value: noticeWith({}, { pod: "a".repeat(1_000_000) }),
      problem: `pod is "${"a".repeat(37)}...", expected the name of a Pod.`,
    },
  ])("$title", ({ value, problem }) => {
    expect(problemIn(value)).toContain(problem);
    expect(problemIn(value).length).toBeLessThan(250);
  });

  test.for([-1, 1e308, Number.NaN, Number.POSITIVE_INFINITY, "5", null, undefined, {}, true])(
    "%s instead of a number",
    (invalidNumber) => {
      const milliseconds = { ...someReport().milliseconds, draining: invalidNumber };
      expect(problemIn(noticeWith({ milliseconds }))).toContain("report.milliseconds.draining is ");
      expect(problemIn(noticeWith({ leftTotal: invalidNumber }))).toContain("report.leftTotal is ");
      expect(problemIn(noticeWith({ left: [{ ...CLIENT, ageMs: invalidNumber }], leftTotal: 1 }))).toContain(
        "report.left[0].ageMs is ",
      );
    },
  );
});

test("a drain notice of deeply nested JSON is rejected", () => {
  const depth = 8_000;
  const nestedList: unknown = JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);
  expect(problemIn(nestedList)).toBe("the notice is a list, expected an object.");
  expect(problemIn(noticeWith({ why: nestedList }))).toBe("report.why is a list, expected a string.");
});

test("inherited fields and __proto__ in a drain notice are ignored", () => {
  const json = JSON.stringify(noticeWith({}));
  expect(problemIn(JSON.parse(`{"__proto__":${json}}`))).toContain("namespace is missing");
  expect(problemIn(Object.create(JSON.parse(json)))).toContain("namespace is missing");
});

test("control, bidirectional and non-ASCII characters in a drain notice become question marks", () => {
  const reading = parseDrainNotice(
    noticeWith({ why: "a\u001b[31mb\u202ec\u0000d\ne\u2028f\u0430g\ud800", evidenceSource: "🙂" }),
  );
  expect(reading).toEqual({ ok: true, notice: noticeWith({ why: "a?[31mb?c?d?e?f?g?", evidenceSource: "??" }) });
});

test("a text of a megabyte in a drain notice is truncated to a thousand characters", () => {
  const reading = parseDrainNotice(
    noticeWith({ why: "\u202e".repeat(1_000_000), left: [{ ...CLIENT, state: "S".repeat(99) }], leftTotal: 1 }),
  );
  const report = reading.ok ? reading.notice.report : undefined;
  expect(report?.why).toBe(`${"?".repeat(997)}...`);
  expect(report?.left[0]?.state).toHaveLength(24);
});

test("times in a drain notice are rounded to whole milliseconds", () => {
  const reading = parseDrainNotice(
    noticeWith({ milliseconds: { withdrawing: 1.4, deregistration: 0.5, draining: -0, holding: 2 } }),
  );
  expect(reading.ok ? reading.notice.report.milliseconds : undefined).toEqual({
    withdrawing: 1,
    deregistration: 1,
    draining: 0,
    holding: 2,
  });
});

const invalidNotices = fc
  .tuple(
    fc.constantFrom("namespace", "pod", "uid", "report"),
    fc.constantFrom(...Object.keys(someReport())),
    fc.jsonValue(),
  )
  .map(([place, field, value]) =>
    place === "report" ? noticeWith({ [field]: value }) : noticeWith({}, { [place]: value }),
  );

test("any drain notice is read as printable values of limited length, or rejected with a sentence", () => {
  fc.assert(
    fc.property(fc.oneof(invalidNotices, fc.jsonValue(), fc.anything()), (value) => {
      const reading = parseDrainNotice(value);
      if (!reading.ok) expect(reading.problem).toMatch(/^[\x20-\x7e]{10,300}$/);
      const texts = reading.ok ? JSON.stringify(reading.notice) : "";
      expect(texts).toMatch(/^[\x20-\x7e]{0,8000}$/);
    }),
    { numRuns: 2_000 },
  );
});
