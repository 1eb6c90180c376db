/** What `explain` says beyond the values as written: what they became, and why. */
import { describe, expect, test } from "vitest";
import { lastcall } from "./run-lastcall.ts";

const POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n  - name: app\n    image: b\n";
const SLEEPING = `${POD}    lifecycle: {preStop: {sleep: {seconds: 20}}}\n`;

const explained = async (text: string, ...flags: readonly string[]) =>
  (await lastcall(["explain", ...flags], { "-": text })).out;

describe("the decision", () => {
  test.for([
    { flags: [], says: "injected native, grace 30 → 100 s, since API server 1.35 runs native sidecars" },
    {
      flags: ["--kube-version=1.30", "--kubelet-version=1.27"],
      says: "injected classic, grace 30 → 100 s, since API server 1.30 with kubelets from 1.27 on may not run native sidecars",
    },
    {
      flags: ["--kube-version=1.30", "--kubelet-version=unknown"],
      says: "injected classic, grace 30 → 100 s, since API server 1.30 with kubelets that were never seen may not run native sidecars",
    },
    { flags: ["--mode=sleep"], says: "injected sleep, grace 30 → 35 s, as mode asks (command line)" },
  ])("says why the mode was chosen with $flags", async ({ flags, says }) => {
    expect(await explained(POD, ...flags)).toContain(`  decision: ${says}\n`);
  });
});

describe("a value that becomes another one", () => {
  test.for([
    { name: "mode", becomes: "auto → native" },
    { name: "driver", becomes: "auto → none" },
    { name: "drained-when", becomes: "auto → quiet" },
  ])("$name shows both", async ({ name, becomes }) => {
    expect(await explained(POD)).toMatch(new RegExp(`^    ${name} +${becomes} `, "m"));
  });

  test("the drain delay shows the sleep it took over", async () => {
    expect(await explained(SLEEPING)).toMatch(/^ {4}drain-delay +5s → 20s /m);
  });

  test("what stays as written is shown once", async () => {
    expect(await explained(POD, "--driver=none")).toMatch(/^ {4}driver +none +command line$/m);
  });
});

describe("the limit", () => {
  test("applies to the driver http when nothing tells the app that it drains", async () => {
    const out = await explained(POD, "--driver=http", "--active-url=http://127.0.0.1:80/active");
    expect(out).toContain("limit: drain-url is not set, so the app does not know that it drains");
  });

  test("is gone once the app is told", async () => {
    expect(await explained(POD, "--drain-url=http://127.0.0.1:80/drain")).not.toContain("limit:");
  });

  test("says when a driver only counts what was not asked for, and sockets end the drain", async () => {
    const out = await explained(POD, "--driver=linkerd");
    expect(out).toContain(
      "limit: The driver linkerd only counts clients, which drained-when: connections asks for, so nothing can send a client away",
    );
    expect(out).toMatch(/^ {4}driver +linkerd → none +command line$/m);
    expect(out).toContain("when traffic has been absent for 2s");
  });

  test("of an Envoy are the sessions it cannot send away, and the driver's count ends the drain", async () => {
    const out = await explained(POD, "--driver=envoy");
    expect(out).toContain("limit: Envoy can send away HTTP clients only");
    expect(out).toMatch(/^ {4}driver +envoy +command line$/m);
    expect(out).toContain("when the driver has counted no active request for 2s");
  });

  test("of a sidecar's Envoy names the drain strategy", async () => {
    expect(await explained(POD, "--driver=istio")).toContain("drainStrategy: immediate");
  });

  test("names HTTP/2 where nothing speaks it", async () => {
    expect(await explained(POD)).toMatch(/limit: No driver is set.*HTTP\/2/);
  });
});
