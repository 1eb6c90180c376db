/** Drains out of files: everything this program and the manager write, and whatever else someone hands in. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { drainsInText } from "../../../src/cli/drains/drain-text.ts";
import { jsonText } from "../../../src/cli/terminal-text.ts";
import { reportLine } from "../../../src/manager/log-line.ts";
import { someDrain, someReport } from "../../drain-history/some-drain.ts";
import { lastcall } from "../run-lastcall.ts";

const LINE = reportLine({ pod: "web-0", namespace: "shop" }, someReport());
const NOISE = '{"level":"info","message":"drain phase","phase":"holding"}\nplain words\n{"broken\n[1,2]\n';

describe("drains are read", () => {
  test.for([
    { says: "from one record", text: JSON.stringify(someDrain()) },
    { says: "from a list", text: JSON.stringify([someDrain()], null, 2) },
    {
      says: "from the answer of a replica",
      text: JSON.stringify({ version: 1, instance: "a", drains: [someDrain()] }),
    },
    { says: "from records line by line", text: `${JSON.stringify(someDrain())}\n\n` },
  ])("$says", ({ text }) => {
    expect(drainsInText(text)).toEqual({ drains: [someDrain()], unread: 0, isKnown: true });
  });

  test("from the log of a manager, whose other lines are passed over", () => {
    const { drains, unread } = drainsInText(`${NOISE}${LINE}\n${NOISE}`);
    expect(unread).toBe(0);
    expect(drains).toEqual([
      someDrain({ id: "line-000005", pod: "web-0", uid: "", ownerKind: "", ownerName: "", endedAtMs: 0 }),
    ]);
  });

  test("with their times where the log has them", () => {
    const { drains } = drainsInText(`2026-11-21T19:43:07.123456789Z ${LINE}\n`);
    expect(drains.map(({ endedAtMs }) => endedAtMs)).toEqual([Date.UTC(2026, 10, 21, 19, 43, 7, 123)]);
  });

  test("and two restarts that a log tells in the same words stay two", async () => {
    const { out } = await lastcall(["drains", "-f", "-"], { "-": `${LINE}\n${LINE}\n` });
    expect(out.match(/web-0/g)).toHaveLength(2);
    expect(out).toMatch(/^AGE .*\n– +shop +web-0 +– +drained/);
  });
});

describe("what is no drain", () => {
  test.for([
    { says: "another version", change: { report: { ...someReport(), version: 2 } } },
    { says: "an unknown outcome", change: { report: { ...someReport(), outcome: "gone" } } },
    { says: "an id that could be a path", change: { id: "../x" } },
    { says: "a name with control characters", change: { pod: "web\u001b[2J" } },
  ])("is counted when it has $says", async ({ change }) => {
    const text = JSON.stringify([{ ...someDrain(), ...change }, someDrain()]);
    expect(drainsInText(text)).toEqual({ drains: [someDrain()], unread: 1, isKnown: true });
    const { status, err } = await lastcall(["drains", "-f", "d.json"], { "d.json": text });
    expect({ status, err }).toEqual({
      status: 0,
      err: "warning: d.json: 1 of its entries are no drains of version 1\n",
    });
  });

  test.for([
    { says: "empty", text: "" },
    { says: "a manifest", text: "kind: Pod\n" },
    { says: "some other JSON", text: '{"kind": "List", "items": []}' },
  ])("is refused with the name of the file when the file is $says", async ({ text }) => {
    const { status, out, err } = await lastcall(["timeline", "web", "-f", "d.json"], { "d.json": text });
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(err).toBe(
      "error: d.json: no drain was found in it; expected what `lastcall drains --json` prints, or the log of a manager\n",
    );
  });

  test("is refused when it is not there, or is no text", async () => {
    expect((await lastcall(["drains", "-f", "gone"])).err).toBe("error: gone: there is no such file or folder\n");
    const { err } = await lastcall(["drains", "-f", "-"], { "-": new Uint8Array([0xff, 0xfe, 0, 1]) });
    expect(err).toContain("error: standard input: ");
  });

  test("never throws", () => {
    const odd = fc.oneof(
      fc.string(),
      fc.json(),
      fc.array(fc.json()).map((values) => values.join("\n")),
    );
    fc.assert(fc.property(odd, (text) => void expect(drainsInText(text).drains).toEqual([])));
    const nearly = fc.record({ id: fc.string(), report: fc.anything(), pod: fc.anything(), namespace: fc.anything() });
    fc.assert(fc.property(nearly, (value) => void expect(drainsInText(jsonText([value])).unread).toBe(1)));
  });
});

describe("JSON for a terminal", () => {
  test("holds nothing that moves or hides anything, and reads back the same", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", "\u009b", "\u202e", "\u{e0041}", "\u001b", "\u2028", "ß", "😀"),
    });
    fc.assert(
      fc.property(text, (words) => {
        const written = jsonText({ words });
        expect(written).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
        expect(JSON.parse(written)).toEqual({ words });
      }),
    );
  });
});
