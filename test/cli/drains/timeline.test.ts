/** `lastcall timeline`: which drain is meant, and the forms in which it is shown. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { timelineSvg } from "../../../src/drain-history/timeline-svg.ts";
import { someDrain } from "../../drain-history/some-drain.ts";
import { lastcall, NO_CLUSTER, type Ran } from "../run-lastcall.ts";
import { type FakeCluster, fakeCluster } from "./fake-cluster.ts";
import { drainsOn } from "./run-on-cluster.ts";

const FIRST = someDrain({ id: "a-1" });
const SECOND = someDrain({ id: "a-2", endedAtMs: FIRST.endedAtMs + 3_600_000 });
const OTHER = someDrain({ id: "a-3", uid: "u-3", pod: "web-7d9f-zzzzz" });
const ELSEWHERE = someDrain({ id: "a-4", uid: "u-4", namespace: "test", pod: "api-0" });
const API = someDrain({ id: "a-5", uid: "u-5", pod: "api-0" });
const FILE = { "drains.json": JSON.stringify({ version: 1, drains: [FIRST, SECOND, OTHER, ELSEWHERE, API] }) };

async function chosen(subject: string, ...flags: readonly string[]): Promise<string> {
  const { status, out, err } = await lastcall(["timeline", subject, "--json", "-f", "drains.json", ...flags], FILE);
  expect({ status, err }).toEqual({ status: 0, err: "" });
  return JSON.parse(out).id;
}

async function refused(subject: string, ...flags: readonly string[]): Promise<string> {
  const { status, out, err } = await lastcall(["timeline", subject, "-f", "drains.json", ...flags], FILE);
  expect({ status, out }).toEqual({ status: 1, out: "" });
  return err;
}

describe("the drain that is meant", () => {
  test("is the latest of a Pod, by name or with its namespace", async () => {
    expect(await chosen("web-7d9f-abcde")).toBe("a-2");
    expect(await chosen("shop/web-7d9f-abcde")).toBe("a-2");
  });

  test("is any drain by its id", async () => {
    expect(await chosen("a-1")).toBe("a-1");
  });

  test("is asked for where Pods of several namespaces have the name", async () => {
    const err = await refused("api-0");
    expect(err).toMatch(/^error: Pods named "api-0" ended in several namespaces; say "\w+\/api-0" or "\w+\/api-0"\n$/);
    expect(await chosen("test/api-0")).toBe("a-4");
    expect(await chosen("api-0", "-n", "shop")).toBe("a-5");
  });

  test("is looked for among names that begin alike, or differ by a slip of the finger", async () => {
    expect(await refused("web-7d9f")).toBe(
      'error: no drain of a Pod and no id "web-7d9f" is remembered; did you mean "web-7d9f-abcde" or "web-7d9f-zzzzz"?\n',
    );
    expect(await refused("ap-0", "-n", "test")).toContain('did you mean "api-0"?');
    expect(await refused("tset/api-0")).toContain('did you mean "test/api-0"?');
    expect(await refused("something-else-entirely")).toContain('; the latest are of "web-7d9f-abcde", ');
    expect(await refused("web", "-n", "empty")).toContain('no id "web" is remembered; no drain is\n');
  });

  test("is never echoed with what moves a cursor", async () => {
    expect(await refused("\u001b[2Jweb")).toContain('"?[2Jweb"');
  });
});

describe("a drain is shown", () => {
  let cluster: FakeCluster;
  beforeEach(async () => {
    cluster = await fakeCluster();
    await cluster.addReplica("lastcall-webhook-a", [FIRST, OTHER]);
  });
  afterEach(() => cluster.close());

  test("as a picture of text, read through the API server", async () => {
    const { status, out, err } = await drainsOn(cluster, "timeline", "web-7d9f-abcde");
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(out).toMatch(/^The drain of Pod shop\/web-7d9f-abcde of ReplicaSet web-7d9f\n/);
    expect(out).toMatch(/\nwithdrawing +5s {2}█+·+\n/);
    expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(120);
  });

  test("as the same SVG that the page shows, in a file", async () => {
    const file = join(cluster.folder, "drain.svg");
    const { writeFileSync } = await import("node:fs");
    const ran = await lastcall(["timeline", "a-1", "-f", "drains.json", "--svg", file], FILE, undefined, {
      ...NO_CLUSTER,
      writeFile: (path, text) => writeFileSync(path, text),
    });
    expect(ran).toEqual({ status: 0, out: "", err: "" });
    expect(readFileSync(file, "utf8")).toBe(timelineSvg(FIRST));
  });

  test("not at all when the file cannot be written, and the reason is told", async () => {
    const ran: Ran = await lastcall(["timeline", "a-1", "-f", "drains.json", "--svg", "/x/y.svg"], FILE, undefined, {
      ...NO_CLUSTER,
      writeFile: () => {
        throw new Error("ENOENT: no such file or directory, open '/x/y.svg'");
      },
    });
    expect(ran.status).toBe(1);
    expect(ran.err).toBe("error: /x/y.svg cannot be written: ENOENT: no such file or directory, open '/x/y.svg'\n");
  });
});
