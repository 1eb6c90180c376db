/** Tests `lastcall timeline`: the choice of the drain, and the output formats. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { timelineSvg } from "../../../src/drain-history/timeline-svg.ts";
import { someDrain } from "../../drain-history/some-drain.ts";
import { type CommandResult, lastcall, NO_CLUSTER } from "../run-lastcall.ts";
import { createFakeCluster, type FakeCluster } from "./fake-cluster.ts";
import { runOnCluster } from "./run-on-cluster.ts";

const FIRST = someDrain({ id: "a-1" });
const SECOND = someDrain({ id: "a-2", endedAtMs: FIRST.endedAtMs + 3_600_000 });
const OTHER_POD = someDrain({ id: "a-3", uid: "u-3", pod: "web-7d9f-zzzzz" });
const OTHER_NAMESPACE = someDrain({ id: "a-4", uid: "u-4", namespace: "test", pod: "api-0" });
const API_POD = someDrain({ id: "a-5", uid: "u-5", pod: "api-0" });
const FILE = {
  "drains.json": JSON.stringify({ version: 1, drains: [FIRST, SECOND, OTHER_POD, OTHER_NAMESPACE, API_POD] }),
};

async function chooseDrain(subject: string, ...flags: readonly string[]): Promise<string> {
  const { status, out, err } = await lastcall(["timeline", subject, "--json", "-f", "drains.json", ...flags], FILE);
  expect({ status, err }).toEqual({ status: 0, err: "" });
  return JSON.parse(out).id;
}

async function readError(subject: string, ...flags: readonly string[]): Promise<string> {
  const { status, out, err } = await lastcall(["timeline", subject, "-f", "drains.json", ...flags], FILE);
  expect({ status, out }).toEqual({ status: 1, out: "" });
  return err;
}

describe("the drain that a command shows", () => {
  test("is the latest drain of the Pod with the given name, or namespace and name", async () => {
    expect(await chooseDrain("web-7d9f-abcde")).toBe("a-2");
    expect(await chooseDrain("shop/web-7d9f-abcde")).toBe("a-2");
  });

  test("has the given id", async () => {
    expect(await chooseDrain("a-1")).toBe("a-1");
  });

  test("is selected only with a namespace if Pods of several namespaces have the name", async () => {
    const err = await readError("api-0");
    expect(err).toMatch(
      /^error: Pods named "api-0" were drained in several namespaces; use "\w+\/api-0" or "\w+\/api-0"\n$/,
    );
    expect(await chooseDrain("test/api-0")).toBe("a-4");
    expect(await chooseDrain("api-0", "-n", "shop")).toBe("a-5");
  });

  test("is suggested by prefix or similarity if no name matches", async () => {
    expect(await readError("web-7d9f")).toBe(
      'error: no recorded drain has the Pod name or id "web-7d9f"; did you mean "web-7d9f-abcde" or "web-7d9f-zzzzz"?\n',
    );
    expect(await readError("ap-0", "-n", "test")).toContain('did you mean "api-0"?');
    expect(await readError("tset/api-0")).toContain('did you mean "test/api-0"?');
    expect(await readError("something-else-entirely")).toContain('; the latest drains are of "web-7d9f-abcde", ');
    expect(await readError("web", "-n", "empty")).toContain('Pod name or id "web"; no drains are recorded\n');
  });

  test("is quoted in an error without control characters", async () => {
    expect(await readError("\u001b[2Jweb")).toContain('"?[2Jweb"');
  });
});

describe("a drain is shown", () => {
  let cluster: FakeCluster;
  beforeEach(async () => {
    cluster = await createFakeCluster();
    await cluster.addReplica("lastcall-webhook-a", [FIRST, OTHER_POD]);
  });
  afterEach(() => cluster.close());

  test("as a text timeline, read through the API server", async () => {
    const { status, out, err } = await runOnCluster(cluster, "timeline", "web-7d9f-abcde");
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(out).toMatch(/^Drain of Pod shop\/web-7d9f-abcde of ReplicaSet web-7d9f\n/);
    expect(out).toMatch(/\nwithdrawing +5s {2}█+·+\n/);
    expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(120);
  });

  test("as an SVG file that equals the one of the relay's page", async () => {
    const file = join(cluster.folder, "drain.svg");
    const { writeFileSync } = await import("node:fs");
    const result = await lastcall(["timeline", "a-1", "-f", "drains.json", "--svg", file], FILE, undefined, {
      ...NO_CLUSTER,
      writeFile: (path, text) => writeFileSync(path, text),
    });
    expect(result).toEqual({ status: 0, out: "", err: "" });
    expect(readFileSync(file, "utf8")).toBe(timelineSvg(FIRST));
  });

  test("with an error if the SVG file cannot be written", async () => {
    const result: CommandResult = await lastcall(
      ["timeline", "a-1", "-f", "drains.json", "--svg", "/x/y.svg"],
      FILE,
      undefined,
      {
        ...NO_CLUSTER,
        writeFile: () => {
          throw new Error("ENOENT: no such file or directory, open '/x/y.svg'");
        },
      },
    );
    expect(result.status).toBe(1);
    expect(result.err).toBe("error: /x/y.svg cannot be written: ENOENT: no such file or directory, open '/x/y.svg'\n");
  });
});
