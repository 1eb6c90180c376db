import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { ALERT_COMMANDS } from "../../src/generate/alert-reference.ts";
import { type Question, readPromql, type Selector } from "./promql.ts";
import { at, CHART, listOf, ofKind, only, render } from "./rendering.ts";
import { type ServedMetric, servedMetrics } from "./served-metrics.ts";

const ALERTS: unknown = parse(readFileSync(join(CHART, "alerts/lastcall.yaml"), "utf8"));
const DASHBOARD: unknown = JSON.parse(readFileSync(join(CHART, "dashboards/lastcall.json"), "utf8"));

type Rule = {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
};
const RULES = listOf(ALERTS, "groups").flatMap((group) => listOf<Rule>(group, "rules"));

type Panel = { readonly type: string; readonly title: string; readonly targets?: readonly { readonly expr: string }[] };
const PANELS = listOf<Panel>(DASHBOARD, "panels").filter(({ type }) => type !== "row");

/** Each expression with where it stands; what Grafana fills in is filled in. */
const EXPRESSIONS: readonly (readonly [string, string])[] = [
  ...RULES.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
  ...PANELS.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [`panel ${title}`, filled(expr)] as const)),
];

/** What scraping adds to every series. */
const TARGET_LABELS = ["namespace", "pod"];

let served: ReadonlyMap<string, ServedMetric>;

beforeAll(async () => {
  served = await servedMetrics();
});

function filled(expression: string): string {
  return expression.replaceAll("$__rate_interval", "5m").replaceAll("$__range", "6h").replaceAll("$namespace", ".*");
}

describe.for(EXPRESSIONS)("%s", ([, expression]) => {
  test("asks for metrics, labels and values that the server has", () => {
    const question = readPromql(expression);
    expect(question.selectors).not.toEqual([]);
    expect(question.selectors.flatMap(missingOf)).toEqual([]);
    expect(question.groupings.filter((label) => !isKnown(question, label))).toEqual([]);
  });
});

function missingOf({ metric, matchers }: Selector): readonly string[] {
  const known = served.get(metric);
  if (known === undefined) return [`there is no metric ${metric}`];
  return matchers.flatMap(({ label, operator, text }) => {
    if (TARGET_LABELS.includes(label)) return [];
    if (!known.labels.includes(label)) return [`${metric} has no label ${label}`];
    const values = known.values.get(label) ?? new Set<string>();
    const wanted = operator === "=~" ? text.split("|") : [text];
    return wanted.filter((value) => !values.has(value)).map((value) => `${metric}{${label}} is never ${value}`);
  });
}

function isKnown({ selectors }: Question, label: string): boolean {
  return TARGET_LABELS.includes(label) || selectors.every(({ metric }) => served.get(metric)?.labels.includes(label));
}

test("a word that is no PromQL, a metric that is not there and a label of another one are seen", () => {
  expect(() => readPromql("sum(rate(lastcall_drains_total[5m])")).toThrow("this is not PromQL");
  expect(() => readPromql("sum by outcome (lastcall_drains_total)")).toThrow("this is not PromQL");
  const missing = readPromql('lastcall_drain_total + lastcall_drains_total{reason="x", outcome=~"drained|cut"}');
  expect(missing.selectors.flatMap(missingOf)).toEqual([
    "there is no metric lastcall_drain_total",
    "lastcall_drains_total has no label reason",
    "lastcall_drains_total{outcome} is never cut",
  ]);
});

test("every alert says how bad it is, what happened and what to do, with labels that its series have", () => {
  expect(RULES.map(({ alert }) => alert)).toEqual([...new Set(RULES.map(({ alert }) => alert))]);
  for (const { alert, expr, labels, annotations } of RULES) {
    expect(alert).toMatch(/^Lastcall[A-Z]/);
    expect(["warning", "critical"]).toContain(labels["severity"]);
    expect(Object.keys(annotations)).toEqual(["summary", "description"]);
    const question = readPromql(expr);
    for (const [, label = ""] of (annotations["description"] ?? "").matchAll(/\$labels\.([a-z_]+)/g))
      expect(question.aggregates ? question.groupings.includes(label) : isKnown(question, label)).toBe(true);
  }
});

test("the alert about old knowledge has a command for the right to read each cache", () => {
  const caches = [...(served.get("lastcall_cache_stale")?.values.get("cache") ?? [])];
  expect(caches).toContain("events");
  const commands = ALERT_COMMANDS["LastcallCacheStale"] ?? [];
  expect(caches.filter((cache) => !commands.some((command) => command.includes(`can-i list ${cache} `)))).toEqual([]);
});

test("everything that can be watched about drains and the relay is on the dashboard", () => {
  const shown = new Set(EXPRESSIONS.flatMap(([, text]) => readPromql(text).selectors.map(({ metric }) => metric)));
  const isShown = (name: string): boolean => shown.has(name) || /_(sum|count)$/.test(name);
  const wanted = [...served.keys()].filter((name) => /^lastcall_(drain|relay)/.test(name));
  expect(wanted.filter((name) => !isShown(name))).toEqual([]);
});

describe("the dashboard", () => {
  test("asks the data source that is chosen, and lets the namespace be chosen by a metric that is there", () => {
    expect(JSON.stringify(PANELS)).not.toMatch(/"datasource":\s*(null|"[^$])/);
    const [, source] = listOf<{ readonly definition: string }>(DASHBOARD, "templating", "list");
    const [, metric = "", label = ""] = /^label_values\(([a-z_]+), ([a-z]+)\)$/.exec(source?.definition ?? "") ?? [];
    expect(served.has(metric)).toBe(true);
    expect(TARGET_LABELS).toContain(label);
  });

  test("has room for every panel, and no two have the same number", () => {
    type Place = { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    const all = listOf<{ readonly id: number; readonly gridPos: Place }>(DASHBOARD, "panels");
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    const cells = all.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)}/${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});

describe("the chart", () => {
  const on = { enabled: true, labels: { release: "prometheus" } };
  const manifests = render({ monitoring: { podMonitor: on, prometheusRule: on, dashboard: { enabled: true } } });

  test("brings nothing of it unless asked, because the cluster may not know these kinds", () => {
    const kinds = render().map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(kinds.filter((name) => /Monitor|PrometheusRule|dashboard/.test(name))).toEqual([]);
  });

  test("brings the alerts as they stand in their file", () => {
    const rule = only(manifests, "PrometheusRule");
    expect(rule["spec"]).toEqual(ALERTS);
    expect(rule.metadata.labels).toMatchObject({ release: "prometheus", "app.kubernetes.io/name": "lastcall" });
  });

  test("puts labels on every alert, and says where its runbook is", () => {
    const given = {
      enabled: true,
      alertLabels: { team: "platform", severity: "theirs" },
      runbookUrl: "https://wiki.example/#",
    };
    const rules = listOf(only(render({ monitoring: { prometheusRule: given } }), "PrometheusRule"), "spec", "groups");
    const alerts = rules.flatMap((group) => listOf<Rule>(group, "rules"));
    expect(alerts).toEqual(
      RULES.map((rule) => ({
        ...rule,
        labels: { ...rule.labels, team: "platform" },
        annotations: { ...rule.annotations, runbook_url: `https://wiki.example/#${rule.alert.toLowerCase()}` },
      })),
    );
  });

  test("has Prometheus read every replica through the Service instead, where that is asked for", () => {
    const some = render({ monitoring: { serviceMonitor: on } });
    const monitor = only(some, "ServiceMonitor");
    const service = only(some, "Service");
    expect(service.metadata.labels).toMatchObject(at(monitor, "spec", "selector", "matchLabels") as object);
    const [endpoint] = listOf<{ readonly port: string }>(monitor, "spec", "endpoints");
    expect(endpoint).toMatchObject({ path: "/metrics", scheme: "https", interval: "30s" });
    expect(listOf<{ readonly name: string }>(service, "spec", "ports").map(({ name }) => name)).toContain(
      endpoint?.port,
    );
  });

  test("brings the dashboard where Grafana's sidecar looks for it", () => {
    const map = ofKind(manifests, "ConfigMap").find(({ metadata }) => metadata.name === "lastcall-dashboard");
    expect(map?.metadata.labels).toMatchObject({ grafana_dashboard: "1" });
    expect(JSON.parse(String(at(map, "data", "lastcall.json")))).toEqual(DASHBOARD);
  });

  test("has Prometheus read every replica on the port that serves the metrics", () => {
    const monitor = only(manifests, "PodMonitor");
    const pod = at(only(manifests, "Deployment"), "spec", "template");
    expect(at(pod, "metadata", "labels")).toMatchObject(at(monitor, "spec", "selector", "matchLabels") as object);
    const [endpoint] = listOf<{ readonly port: string }>(monitor, "spec", "podMetricsEndpoints");
    expect(endpoint).toMatchObject({ path: "/metrics", scheme: "https", interval: "30s" });
    const ports = listOf<{ readonly name: string }>(pod, "spec", "containers", 0, "ports");
    expect(ports.map(({ name }) => name)).toContain(endpoint?.port);
  });
});
