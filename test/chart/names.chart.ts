import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { at, CHART, helm, listOf, onlyOfKind, render, type Values } from "./rendering.ts";

const objectNamesOf = (values: Values): readonly string[] =>
  render({ monitoring: MONITORING, ...values }).map(({ kind, metadata }) => `${kind} ${metadata.name}`);

const MONITORING = { podMonitor: { enabled: true }, prometheusRule: { enabled: true }, dashboard: { enabled: true } };

describe("a configured name of the release", () => {
  test.for([
    { nameOverride: "drain" },
    { fullnameOverride: "drain" },
    { nameOverride: "other", fullnameOverride: "drain" },
  ])("replaces lastcall in the name of every object: %j", (values) => {
    const expected = objectNamesOf({}).map((name) => name.replace(/ lastcall(?=-|$)/, " drain"));
    expect(objectNamesOf(values)).toEqual(expected);
    expect(objectNamesOf(values).filter((name) => / lastcall(-|$)/.test(name))).toEqual([]);
  });

  test("is used in flags and references", () => {
    const image = { webhook: { repository: "a" }, manager: { repository: "b" } };
    const lines = JSON.stringify(render({ fullnameOverride: "drain", image }), undefined, 1).split("\n");
    // The names of the self-test's Pod and of the chart are fixed.
    const unreplaced = lines.filter((line) => /lastcall-(?!self-test"$|[0-9])/i.test(line));
    expect(unreplaced).toEqual([]);
  });

  test("does not change the labels by which users and the command line find replicas", () => {
    const labels = at(
      onlyOfKind(render({ fullnameOverride: "drain" }), "Deployment"),
      "spec",
      "template",
      "metadata",
      "labels",
    );
    expect(labels).toMatchObject({ "app.kubernetes.io/name": "lastcall", "app.kubernetes.io/component": "webhook" });
  });

  test("is in the DNS names of cert-manager's certificates", () => {
    const values = { fullnameOverride: "drain", certificates: { mode: "cert-manager" } };
    const certificates = render(values).filter(({ metadata }) => metadata.name === "drain-webhook-tls");
    expect(certificates.map((certificate) => at(certificate, "spec", "issuerRef", "name"))).toEqual(["drain-ca"]);
    expect(listOf(certificates[0], "spec", "dnsNames")[0]).toBe("drain-webhook.lastcall.svc");
  });
});

describe("the chart as a subchart", () => {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-parent-"));

  beforeAll(() => {
    const dependency = { name: "lastcall", version: "0.1.0", condition: "lastcall.enabled" };
    const chart = { apiVersion: "v2", name: "platform", version: "1.0.0", dependencies: [dependency] };
    writeFileSync(join(folder, "Chart.yaml"), JSON.stringify(chart));
    mkdirSync(join(folder, "charts"));
    cpSync(CHART, join(folder, "charts/lastcall"), { recursive: true });
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  test.for([true, false])("is rendered only if its condition is true: %s", (enabled) => {
    const values = { lastcall: { enabled, image: { allowEmptyRegistry: true } }, global: { team: "platform" } };
    const renderFlags = ["--namespace", "platform", "--kube-version", "1.35.0"];
    const { status, stdout, stderr } = helm(["template", "platform", folder, ...renderFlags, "-f", "-"], values);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout.includes("kind: MutatingWebhookConfiguration")).toBe(enabled);
  });
});
