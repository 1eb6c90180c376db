/** Tests reading drains from files: the program's own output, managers' logs and arbitrary input. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { drainsInText } from "../../../src/cli/drains/drain-text.ts";
import { jsonText } from "../../../src/cli/terminal-text.ts";
import { reportLine } from "../../../src/manager/log-line.ts";
import { someDrain, someReport } from "../../drain-history/some-drain.ts";
import { lastcall } from "../run-lastcall.ts";

const LINE = reportLine({ pod: "web-0", namespace: "shop" }, someReport());
const OTHER_LINES = '{"level":"info","message":"drain phase","phase":"holding"}\nplain words\n{"broken\n[1,2]\n';

describe("drains are read from text", () => {
  test.for([
    { title: "with one record", text: JSON.stringify(someDrain()) },
    { title: "with a list of records", text: JSON.stringify([someDrain()], null, 2) },
    {
      title: "with the response of a replica",
      text: JSON.stringify({ version: 1, instance: "a", drains: [someDrain()] }),
    },
    { title: "with one record per line", text: `${JSON.stringify(someDrain())}\n\n` },
  ])("$title", ({ text }) => {
    expect(drainsInText(text)).toEqual({ drains: [someDrain()], unreadableCount: 0, isRecognized: true });
  });

  test("that is a manager's log, without the log's other lines", () => {
    const { drains, unreadableCount } = drainsInText(`${OTHER_LINES}${LINE}\n${OTHER_LINES}`);
    expect(unreadableCount).toBe(0);
    expect(drains).toEqual([
      someDrain({ id: "line-000005", pod: "web-0", uid: "", ownerKind: "", ownerName: "", endedAtMs: 0 }),
    ]);
  });

  test("that is a log, with the log's timestamps", () => {
    const { drains } = drainsInText(`2026-11-21T19:43:07.123456789Z ${LINE}\n`);
    expect(drains.map(({ endedAtMs }) => endedAtMs)).toEqual([Date.UTC(2026, 10, 21, 19, 43, 7, 123)]);
  });

  test("that is a log with both reports of a Pod, as one drain with its resets", () => {
    const resets = { draining: 0, stopping: 1, probes: 0, stoppingMs: 40 };
    const { report, ...line } = JSON.parse(LINE);
    const { drains } = drainsInText(`${LINE}\n${JSON.stringify({ ...line, report: { ...report, resets } })}\n`);
    expect(drains.map((drain) => drain.report.resets)).toEqual([resets]);
  });

  test("that is a log with equal lines of two restarts of a manager, as two drains", async () => {
    const { out } = await lastcall(["drains", "-f", "-"], { "-": `${LINE}\n${LINE}\n` });
    expect(out.match(/web-0/g)).toHaveLength(2);
    expect(out).toMatch(/^AGE .*\n– +shop +web-0 +– +drained/);
  });
});

describe("a file for the command drains", () => {
  test.for([
    { title: "another version", change: { report: { ...someReport(), version: 2 } } },
    { title: "an unknown outcome", change: { report: { ...someReport(), outcome: "gone" } } },
    { title: "an id that could be a path", change: { id: "../x" } },
    { title: "a name with control characters", change: { pod: "web\u001b[2J" } },
  ])("is read without a record that has $title, and the skipped records are counted", async ({ change }) => {
    const text = JSON.stringify([{ ...someDrain(), ...change }, someDrain()]);
    expect(drainsInText(text)).toEqual({ drains: [someDrain()], unreadableCount: 1, isRecognized: true });
    const { status, err } = await lastcall(["drains", "-f", "d.json"], { "d.json": text });
    expect({ status, err }).toEqual({
      status: 0,
      err: "warning: d.json: entries skipped because they are not drains of version 1: 1\n",
    });
  });

  test.for([
    { title: "empty", text: "" },
    { title: "a manifest", text: "kind: Pod\n" },
    { title: "some other JSON", text: '{"kind": "List", "items": []}' },
  ])("is rejected with the file's name if the file is $title", async ({ text }) => {
    const { status, out, err } = await lastcall(["timeline", "web", "-f", "d.json"], { "d.json": text });
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(err).toBe(
      "error: d.json: does not contain a drain; expected the output of `lastcall drains --json` or a manager's log\n",
    );
  });

  test("is rejected if it does not exist or is not text", async () => {
    expect((await lastcall(["drains", "-f", "gone"])).err).toBe("error: gone: no such file or directory\n");
    const { err } = await lastcall(["drains", "-f", "-"], { "-": new Uint8Array([0xff, 0xfe, 0, 1]) });
    expect(err).toContain("error: standard input: ");
  });

  test("does not cause an exception, whatever its content is", () => {
    const arbitraryText = fc.oneof(
      fc.string(),
      fc.json(),
      fc.array(fc.json()).map((values) => values.join("\n")),
    );
    fc.assert(fc.property(arbitraryText, (text) => void expect(drainsInText(text).drains).toEqual([])));
    const invalidRecord = fc.record({
      id: fc.string(),
      report: fc.anything(),
      pod: fc.anything(),
      namespace: fc.anything(),
    });
    fc.assert(
      fc.property(invalidRecord, (value) => void expect(drainsInText(jsonText([value])).unreadableCount).toBe(1)),
    );
  });
});

describe("JSON for a terminal", () => {
  test("does not contain control or format characters, and parses to the same value", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", "\u009b", "\u202e", "\u{e0041}", "\u001b", "\u2028", "ß", "😀"),
    });
    fc.assert(
      fc.property(text, (value) => {
        const text = jsonText({ words: value });
        expect(text).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
        expect(JSON.parse(text)).toEqual({ words: value });
      }),
    );
  });
});
