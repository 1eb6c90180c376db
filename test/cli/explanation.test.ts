/** Tests the decisions, effective values and limits that `explain` prints. */
import { describe, expect, test } from "vitest";
import { lastcall } from "./run-lastcall.ts";

const POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n  - name: app\n    image: b\n";
const POD_WITH_PRESTOP_SLEEP = `${POD}    lifecycle: {preStop: {sleep: {seconds: 20}}}\n`;

const explain = async (text: string, ...flags: readonly string[]) =>
  (await lastcall(["explain", ...flags], { "-": text })).out;

describe("the mode in an explanation", () => {
  test.for([
    {
      title: "the default cluster versions",
      flags: [],
      decision: "injected native, grace 30 → 100 s, because API server 1.35 supports native sidecars",
    },
    {
      title: "an API server 1.30 with kubelets of version 1.27",
      flags: ["--kube-version=1.30", "--kubelet-version=1.27"],
      decision:
        "injected classic, grace 30 → 100 s, because API server 1.30 with kubelets of version 1.27 or later may not support native sidecars",
    },
    {
      title: "an API server 1.30 with unknown kubelets",
      flags: ["--kube-version=1.30", "--kubelet-version=unknown"],
      decision:
        "injected classic, grace 30 → 100 s, because API server 1.30 with unknown kubelets may not support native sidecars",
    },
    {
      title: "the flag --mode=sleep",
      flags: ["--mode=sleep"],
      decision: "injected sleep, grace 30 → 35 s, as set by mode (command line)",
    },
  ])("is printed with its reason for $title", async ({ flags, decision }) => {
    expect(await explain(POD, ...flags)).toContain(`  decision: ${decision}\n`);
  });
});

describe("the effective value of a setting in an explanation", () => {
  test.for([
    { name: "mode", becomes: "auto → native" },
    { name: "driver", becomes: "auto → none" },
    { name: "drained-when", becomes: "auto → quiet" },
  ])("follows the configured value if the two values differ: $name", async ({ name, becomes }) => {
    expect(await explain(POD)).toMatch(new RegExp(`^    ${name} +${becomes} `, "m"));
  });

  test("includes the part of the drain delay that a chained sleep hook adds", async () => {
    expect(await explain(POD_WITH_PRESTOP_SLEEP)).toMatch(/^ {4}drain-delay +5s → 20s /m);
  });

  test("is printed alone if it equals the configured value", async () => {
    expect(await explain(POD, "--driver=none")).toMatch(/^ {4}driver +none +command line$/m);
  });
});

describe("the limitation of a drain in an explanation", () => {
  test("is printed for the driver http without a drain-url", async () => {
    const out = await explain(POD, "--driver=http", "--active-url=http://127.0.0.1:80/active");
    expect(out).toContain("limit: drain-url is not set, so the app is not notified");
  });

  test("is absent with a drain-url", async () => {
    expect(await explain(POD, "--drain-url=http://127.0.0.1:80/drain")).not.toContain("limit:");
  });

  test("contains the driver if the criterion uses sockets instead of that driver", async () => {
    const out = await explain(POD, "--driver=linkerd");
    expect(out).toContain(
      "limit: The driver linkerd counts only connected clients and is used only with drained-when: connections, so nothing can close a keep-alive connection",
    );
    expect(out).toMatch(/^ {4}driver +linkerd → none +command line$/m);
    expect(out).toContain("when traffic has been absent for 2s");
  });

  test("of Envoy is that only HTTP connections drain, and the criterion is the driver's count of requests", async () => {
    const out = await explain(POD, "--driver=envoy");
    expect(out).toContain("limit: Envoy drains HTTP connections only");
    expect(out).toMatch(/^ {4}driver +envoy +command line$/m);
    expect(out).toContain("when the driver has counted no active request for 2s");
  });

  test("of Istio's Envoy contains `drainStrategy: immediate`", async () => {
    expect(await explain(POD, "--driver=istio")).toContain("drainStrategy: immediate");
  });

  test("of an app with --shutdown=graceful is that only the app closes connections, and the drain does not have a patience", async () => {
    const explanation = await explain(POD, "--shutdown=graceful");
    expect(explanation).toContain(
      "limit: No driver is set, so only the app's own shutdown closes a keep-alive connection",
    );
    expect(explanation).not.toContain("end of the patience");
    expect(await explain(POD)).toContain(
      "(the patience is 0 after three Pods of the workload that did not reset a connection when they stopped)",
    );
    expect(await explain(POD, "--shutdown=abrupt")).not.toContain("three stops");
  });

  test("contains HTTP/2 if no driver closes HTTP/2 connections", async () => {
    expect(await explain(POD)).toMatch(/limit: No driver is set.*HTTP\/2/);
  });
});

describe("the command explain reports a Pod that the webhook's selectors exclude", () => {
  const createNamespace = (metadata: string): string =>
    `apiVersion: v1\nkind: Namespace\nmetadata: {name: default, ${metadata}}\n---\n`;
  const createPod = (metadata: string): string => POD.replace("  name: web\n", `  name: web\n  ${metadata}\n`);
  const REMEDY = "set the label lastcall.dev/inject: enabled on the Pod template or the namespace";

  test.for<[title: string, namespaceMetadata: string, podMetadata: string, because: string]>([
    [
      "neither the Pod nor its namespace has the opt-in label",
      "labels: {}",
      "",
      "neither the Pod nor its namespace has the label lastcall.dev/inject: enabled",
    ],
    [
      "the opt-in label of the namespace has an invalid value",
      "labels: {lastcall.dev/inject: 'true'}",
      "",
      `label lastcall.dev/inject of the namespace is "true"; ${REMEDY}`,
    ],
    [
      "the opt-in label of the Pod has an invalid value",
      "labels: {}",
      "labels: {lastcall.dev/inject: 'true'}",
      `label lastcall.dev/inject of the Pod is "true"; ${REMEDY}`,
    ],
    [
      "the Pod has an annotation instead of the opt-in label",
      "labels: {}",
      "annotations: {lastcall.dev/inject: enabled}",
      `lastcall.dev/inject: enabled is an annotation of the Pod, which selectors do not match; ${REMEDY}`,
    ],
    [
      "the Pod has a revision and the release does not",
      "labels: {lastcall.dev/inject: enabled}",
      "labels: {lastcall.dev/revision: canary}",
      'label lastcall.dev/revision of the Pod is "canary", and the chart\'s value `revision` is not set',
    ],
    [
      "the namespace has a revision and the release does not",
      "labels: {lastcall.dev/inject: enabled, lastcall.dev/revision: canary}",
      "",
      'label lastcall.dev/revision of the namespace is "canary", and the chart\'s value `revision` is not set',
    ],
  ])("if %s", async ([, ofNamespace, ofPod, because]) => {
    const out = await explain(createNamespace(ofNamespace) + createPod(ofPod));
    expect(out).toContain(`  decision: not injected, because ${because}\n`);
    expect(out).not.toContain("grace period");
  });

  test("if the revision differs from --revision", async () => {
    const text = createNamespace("labels: {lastcall.dev/inject: enabled, lastcall.dev/revision: canary}") + POD;
    expect(await explain(text, "--revision=canary")).toContain("decision: injected native");
    expect(await explain(text, "--revision=next")).toContain(
      'label lastcall.dev/revision of the namespace is "canary", and the revision of the release is "next"',
    );
  });

  test("if the Pod opts out and --opt-out is set", async () => {
    expect(await explain(createNamespace("labels: {}") + POD, "--opt-out")).toContain("decision: injected native");
    const optedOut = createPod("labels: {lastcall.dev/inject: disabled}");
    expect(await explain(optedOut, "--opt-out")).toContain("decision: skipped (disabled)");
  });

  test("as a field of the JSON output", async () => {
    const { workloads } = JSON.parse(await explain(createNamespace("labels: {}") + POD, "--json"));
    expect(workloads[0].workload).toMatchObject({ outcome: "skipped", reason: "not_enabled" });
    expect(workloads[0].workload).not.toHaveProperty("graceSeconds");
  });
});

describe("for a namespace that is not in the manifests, explain", () => {
  test("assumes an opt-in and prints that assumption", async () => {
    expect(await explain(POD)).toContain("  assumed: namespace default, which is not among the manifests, opts in\n");
  });

  test("does not assume an opt-in if the Pod has the opt-in label", async () => {
    const out = await explain(POD.replace("  name: web\n", "  name: web\n  labels: {lastcall.dev/inject: enabled}\n"));
    expect(out).toContain("decision: injected native");
    expect(out).not.toContain("assumed:");
  });
});
