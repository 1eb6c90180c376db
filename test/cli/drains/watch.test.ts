/** Tests `lastcall drains --watch`. Before each poll the test runs one step; after the last step it interrupts the command. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { someDrain, someReport } from "../../drain-history/some-drain.ts";
import { eventually } from "../../time/eventually.ts";
import { type CommandResult, lastcall } from "../run-lastcall.ts";
import { createFakeCluster, type FakeCluster } from "./fake-cluster.ts";
import { portsOf } from "./run-on-cluster.ts";

const WEB_DRAIN = someDrain({ id: "a-1" });
const LATER_DRAIN = someDrain({
  id: "b-2",
  uid: "u-2",
  pod: "web-7d9f-fghij",
  endedAtMs: WEB_DRAIN.endedAtMs + 65_000,
});

let cluster: FakeCluster;
beforeEach(async () => {
  cluster = await createFakeCluster();
});
afterEach(() => cluster.close());

async function watch(steps: readonly (() => unknown)[], ...flags: readonly string[]): Promise<CommandResult> {
  const interrupt = new AbortController();
  const remainingSteps = [...steps];
  const sleep = async (ms: number): Promise<void> => {
    expect(ms).toBe(2_000);
    const step = remainingSteps.shift();
    if (step === undefined) interrupt.abort();
    else await step();
  };
  const result = await lastcall(
    ["drains", "--watch", ...flags],
    {},
    undefined,
    portsOf(cluster, { sleep, interruptSignal: () => interrupt.signal }),
  );
  expect(remainingSteps).toEqual([]);
  return result;
}

test("a watch of drains prints the recorded drains, then each new drain once, the newest last", async () => {
  const replicaA = await cluster.addReplica("lastcall-webhook-a", [WEB_DRAIN]);
  const replicaB = await cluster.addReplica("lastcall-webhook-b", []);
  const { status, out, err } = await watch([
    () => undefined,
    () => replicaB.add(LATER_DRAIN),
    // A manager that did not get a response from replica b sends the report to replica a too.
    () => replicaA.add({ ...LATER_DRAIN, id: "a-2", endedAtMs: LATER_DRAIN.endedAtMs + 800 }),
    () => undefined,
  ]);
  expect({ status, err }).toEqual({ status: 0, err: "" });
  const lines = out.trimEnd().split("\n");
  expect(lines.map((line) => line.split(/\s+/).slice(0, 3))).toEqual([
    ["ENDED", "NAMESPACE", "POD"],
    ["11:06:40Z", "shop", "web-7d9f-abcde"],
    ["11:07:45Z", "shop", "web-7d9f-fghij"],
  ]);
});

test("a watch with --json prints one record per line, in the format of --filename", async () => {
  const a = await cluster.addReplica("lastcall-webhook-a", [WEB_DRAIN]);
  const { out } = await watch([() => a.add(LATER_DRAIN)], "--json");
  expect(
    out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([WEB_DRAIN, LATER_DRAIN]);
  const fileResult = await lastcall(["drains", "-f", "seen.json", "--json"], { "seen.json": out });
  expect(JSON.parse(fileResult.out).drains).toEqual([LATER_DRAIN, WEB_DRAIN]);
});

test("a watch prints a drain again after a later report", async () => {
  const a = await cluster.addReplica("lastcall-webhook-a", [
    someDrain({ id: "a-1", report: someReport({ outcome: "restarted" }) }),
  ]);
  const { out } = await watch([() => a.add({ ...WEB_DRAIN, id: "a-9", endedAtMs: WEB_DRAIN.endedAtMs + 20_000 })]);
  expect(out).toMatch(/restarted.*\n.*drained/);
});

test("a watch reports a stopped replica once, and reads the drains of a new replica", async () => {
  const a = await cluster.addReplica("lastcall-webhook-a", [WEB_DRAIN]);
  const { status, out, err } = await watch([
    () => cluster.addReplica("lastcall-webhook-b", [LATER_DRAIN]),
    () => a.stop(),
    () => undefined,
    () => cluster.pods.shift(),
  ]);
  expect(status).toBe(0);
  expect(out).toContain("web-7d9f-fghij");
  expect(err.match(/warning: lastcall\/lastcall-webhook-a did not return its drains/g)).toHaveLength(1);
  expect(err.trimEnd().split("\n").at(-1)).toBe("all replicas respond again");
});

test("a watch continues after a time in which the API server lists no replicas", async () => {
  const a = await cluster.addReplica("lastcall-webhook-a", [WEB_DRAIN]);
  const pods = [...cluster.pods];
  const { status, out, err } = await watch([
    () => cluster.pods.splice(0),
    () => undefined,
    () => cluster.pods.push(...pods),
    () => a.add(LATER_DRAIN),
  ]);
  expect(status).toBe(0);
  expect(out.match(/web-7d9f-abcde/g)).toHaveLength(1);
  expect(out).toContain("web-7d9f-fghij");
  expect(err.match(/no lastcall replica/g)).toHaveLength(1);
});

test("a watch whose first read fails exits with 1 and prints a remedy", async () => {
  const { status, out, err } = await watch([]);
  expect({ status, out }).toEqual({ status: 1, out: "" });
  expect(err).toContain("error: no lastcall replica");
});

test("a watch that is interrupted during a read exits with 0", async () => {
  await cluster.addReplica("lastcall-webhook-a", [WEB_DRAIN]);
  cluster.unresponsivePods.add("lastcall-webhook-a");
  const interrupt = new AbortController();
  const watching = lastcall(
    ["drains", "-w"],
    {},
    undefined,
    portsOf(cluster, { interruptSignal: () => interrupt.signal }),
  );
  await eventually(() => expect(cluster.requests.some((request) => request.includes("/portforward"))).toBe(true));
  interrupt.abort();
  expect(await watching).toEqual({ status: 0, out: "", err: "" });
});
