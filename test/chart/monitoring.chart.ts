import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { ALERT_COMMANDS } from "../../src/generate/alert-reference.ts";
import { type PromqlQuery, readPromql, type Selector } from "./promql.ts";
import { at, CHART, listOf, ofKind, onlyOfKind, render } from "./rendering.ts";
import { readServedMetrics, type ServedMetric } from "./served-metrics.ts";

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

/** Each expression with the name of its alert or panel; Grafana's variables are replaced. */
const EXPRESSIONS: readonly (readonly [string, string])[] = [
  ...RULES.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
  ...PANELS.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [`panel ${title}`, replaceVariables(expr)] as const),
  ),
];

/** Labels that Prometheus adds to every scraped series. */
const TARGET_LABELS = ["namespace", "pod"];

let metrics: ReadonlyMap<string, ServedMetric>;

beforeAll(async () => {
  metrics = await readServedMetrics();
});

function replaceVariables(expression: string): string {
  return expression.replaceAll("$__rate_interval", "5m").replaceAll("$__range", "6h").replaceAll("$namespace", ".*");
}

describe.for(EXPRESSIONS)("the PromQL of the %s", ([, expression]) => {
  test("uses only metrics, labels and label values that the server exports", () => {
    const query = readPromql(expression);
    expect(query.selectors).not.toEqual([]);
    expect(query.selectors.flatMap(findUnknown)).toEqual([]);
    expect(query.groupingLabels.filter((label) => !isKnown(query, label))).toEqual([]);
  });
});

function findUnknown({ metric, matchers }: Selector): readonly string[] {
  const servedMetric = metrics.get(metric);
  if (servedMetric === undefined) return [`unknown metric ${metric}`];
  return matchers.flatMap(({ label, operator, text }) => {
    if (TARGET_LABELS.includes(label)) return [];
    if (!servedMetric.labels.includes(label)) return [`${metric} has no label ${label}`];
    const values = servedMetric.values.get(label) ?? new Set<string>();
    const comparedValues = operator === "=~" ? text.split("|") : [text];
    return comparedValues.filter((value) => !values.has(value)).map((value) => `${metric}{${label}} is never ${value}`);
  });
}

function isKnown({ selectors }: PromqlQuery, label: string): boolean {
  return TARGET_LABELS.includes(label) || selectors.every(({ metric }) => metrics.get(metric)?.labels.includes(label));
}

test("the expression check rejects invalid PromQL, an unknown metric and a label of another metric", () => {
  expect(() => readPromql("sum(rate(lastcall_drains_total[5m])")).toThrow("invalid PromQL");
  expect(() => readPromql("sum by outcome (lastcall_drains_total)")).toThrow("invalid PromQL");
  const query = readPromql('lastcall_drain_total + lastcall_drains_total{reason="x", outcome=~"drained|cut"}');
  expect(query.selectors.flatMap(findUnknown)).toEqual([
    "unknown metric lastcall_drain_total",
    "lastcall_drains_total has no label reason",
    "lastcall_drains_total{outcome} is never cut",
  ]);
});

test("every alert has a severity, a summary and a remedy, and uses only labels of its series", () => {
  expect(RULES.map(({ alert }) => alert)).toEqual([...new Set(RULES.map(({ alert }) => alert))]);
  for (const { alert, expr, labels, annotations } of RULES) {
    expect(alert).toMatch(/^Lastcall[A-Z]/);
    expect(["warning", "critical"]).toContain(labels["severity"]);
    expect(Object.keys(annotations)).toEqual(["summary", "description"]);
    const query = readPromql(expr);
    for (const [, label = ""] of (annotations["description"] ?? "").matchAll(/\$labels\.([a-z_]+)/g))
      expect(query.hasAggregation ? query.groupingLabels.includes(label) : isKnown(query, label)).toBe(true);
  }
});

test("the alert about a stale cache has one command per cache that checks the permission to list", () => {
  const caches = [...(metrics.get("lastcall_cache_stale")?.values.get("cache") ?? [])];
  expect(caches).toContain("events");
  const commands = ALERT_COMMANDS["LastcallCacheStale"] ?? [];
  expect(caches.filter((cache) => !commands.some((command) => command.includes(`can-i list ${cache} `)))).toEqual([]);
});

test("the dashboard shows every metric of drains and the relay", () => {
  const shownMetrics = new Set(
    EXPRESSIONS.flatMap(([, text]) => readPromql(text).selectors.map(({ metric }) => metric)),
  );
  const isShown = (name: string): boolean => shownMetrics.has(name) || /_(sum|count)$/.test(name);
  const metricNames = [...metrics.keys()].filter((name) => /^lastcall_(drain|relay)/.test(name));
  expect(metricNames.filter((name) => !isShown(name))).toEqual([]);
});

describe("the dashboard", () => {
  test("uses the selected data source, and lists namespaces from an existing metric", () => {
    expect(JSON.stringify(PANELS)).not.toMatch(/"datasource":\s*(null|"[^$])/);
    const [, source] = listOf<{ readonly definition: string }>(DASHBOARD, "templating", "list");
    const [, metric = "", label = ""] = /^label_values\(([a-z_]+), ([a-z]+)\)$/.exec(source?.definition ?? "") ?? [];
    expect(metrics.has(metric)).toBe(true);
    expect(TARGET_LABELS).toContain(label);
  });

  test("has a position and a unique id for every panel", () => {
    type GridPosition = { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    const allPanels = listOf<{ readonly id: number; readonly gridPos: GridPosition }>(DASHBOARD, "panels");
    expect(new Set(allPanels.map(({ id }) => id)).size).toBe(allPanels.length);
    const cells = allPanels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)}/${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});

describe("the chart's monitoring", () => {
  const monitorValues = { enabled: true, labels: { release: "prometheus" } };
  const manifests = render({
    monitoring: { podMonitor: monitorValues, prometheusRule: monitorValues, dashboard: { enabled: true } },
  });

  test("is disabled by default, because the cluster may not have the kinds of Prometheus Operator", () => {
    const objectNames = render().map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(objectNames.filter((name) => /Monitor|PrometheusRule|dashboard/.test(name))).toEqual([]);
  });

  test("renders the alerts of the chart's file unchanged", () => {
    const rule = onlyOfKind(manifests, "PrometheusRule");
    expect(rule["spec"]).toEqual(ALERTS);
    expect(rule.metadata.labels).toMatchObject({ release: "prometheus", "app.kubernetes.io/name": "lastcall" });
  });

  test("adds the configured labels and runbook URL to every alert", () => {
    const prometheusRule = {
      enabled: true,
      alertLabels: { team: "platform", severity: "info" },
      runbookUrl: "https://wiki.example/#",
    };
    const rules = listOf(onlyOfKind(render({ monitoring: { prometheusRule } }), "PrometheusRule"), "spec", "groups");
    const alerts = rules.flatMap((group) => listOf<Rule>(group, "rules"));
    expect(alerts).toEqual(
      RULES.map((rule) => ({
        ...rule,
        labels: { ...rule.labels, team: "platform" },
        annotations: { ...rule.annotations, runbook_url: `https://wiki.example/#${rule.alert.toLowerCase()}` },
      })),
    );
  });

  test("scrapes every replica with a ServiceMonitor, if configured", () => {
    const withServiceMonitor = render({ monitoring: { serviceMonitor: monitorValues } });
    const monitor = onlyOfKind(withServiceMonitor, "ServiceMonitor");
    const service = onlyOfKind(withServiceMonitor, "Service");
    expect(service.metadata.labels).toMatchObject(at(monitor, "spec", "selector", "matchLabels") as object);
    const [endpoint] = listOf<{ readonly port: string }>(monitor, "spec", "endpoints");
    expect(endpoint).toMatchObject({ path: "/metrics", scheme: "https", interval: "30s" });
    expect(listOf<{ readonly name: string }>(service, "spec", "ports").map(({ name }) => name)).toContain(
      endpoint?.port,
    );
  });

  test("renders the dashboard with the label that Grafana's sidecar selects", () => {
    const map = ofKind(manifests, "ConfigMap").find(({ metadata }) => metadata.name === "lastcall-dashboard");
    expect(map?.metadata.labels).toMatchObject({ grafana_dashboard: "1" });
    expect(JSON.parse(String(at(map, "data", "lastcall.json")))).toEqual(DASHBOARD);
  });

  test("scrapes every replica on the metrics port with a PodMonitor", () => {
    const monitor = onlyOfKind(manifests, "PodMonitor");
    const pod = at(onlyOfKind(manifests, "Deployment"), "spec", "template");
    expect(at(pod, "metadata", "labels")).toMatchObject(at(monitor, "spec", "selector", "matchLabels") as object);
    const [endpoint] = listOf<{ readonly port: string }>(monitor, "spec", "podMetricsEndpoints");
    expect(endpoint).toMatchObject({ path: "/metrics", scheme: "https", interval: "30s" });
    const ports = listOf<{ readonly name: string }>(pod, "spec", "containers", 0, "ports");
    expect(ports.map(({ name }) => name)).toContain(endpoint?.port);
  });
});
