/** Renders the reference tables of flags, exit statuses and metrics. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command, Option } from "commander";
import { Registry } from "prom-client";
import type { Ports } from "../cli/ports.ts";
import { buildProgram } from "../cli/program.ts";
import { DEMO_HELP } from "../demo/options.ts";
import { ROWS } from "../policy/fields.ts";
import { identityRecorder } from "../relay/identity/identity-runner.ts";
import { addGauge, drainMetrics, sliceMetrics, threadMetrics } from "../relay/metrics.ts";
import { refusalCounter } from "../relay/server/guard.ts";
import { variableOf } from "../settings/read-settings.ts";
import { addAuthorityGauges, eventRecorder } from "../webhook/certificates/event-recorder.ts";
import { createClusterMetrics } from "../webhook/cluster/cluster-metrics.ts";
import { addEnforcementGauges } from "../webhook/enforcement/enforcement-runner.ts";
import type { Log } from "../webhook/log.ts";
import { createMetrics } from "../webhook/metrics.ts";
import { SELF_TEST_HELP } from "../webhook/self-test/main.ts";
import { SETTINGS } from "../webhook/settings.ts";
import { code, markdownTable } from "./markdown-table.ts";

export function webhookFlagReference(): string {
  const rows = Object.values(SETTINGS).map(({ flag, placeholder, defaultText, summary }) => [
    code(`--${flag}`),
    placeholder,
    defaultText,
    summary,
    code(variableOf(flag)),
  ]);
  return markdownTable(["flag", "value", "default", "what it sets", "environment variable"], rows);
}

export function managerFlagReference(): string {
  const rows = ROWS.flatMap(([, row]) => ("codec" in row ? [] : [[code(`--${row.name}`), row.comment]]));
  return markdownTable(["flag", "what it sets"], rows);
}

export function commandFlagReference(): string {
  const program = buildProgram(UNUSED_PORTS, () => {});
  return program.commands
    .filter((command) => ownOptions(command).length > 0)
    .map((command) =>
      [`### lastcall ${command.name()}`, "", descriptionSentence(command), "", optionTable(command)].join("\n"),
    )
    .join("\n\n");
}

export function demoFlagReference(): string {
  return `\`\`\`\n${DEMO_HELP.trimEnd()}\n\`\`\``;
}

export function selfTestFlagReference(): string {
  return `\`\`\`\n${SELF_TEST_HELP.trimEnd()}\n\`\`\``;
}

const UNUSED_PORTS = {} as Ports;

function descriptionSentence(command: Command): string {
  const description = command.description();
  return `${description.charAt(0).toUpperCase()}${description.slice(1)}.`;
}

function optionTable(command: Command): string {
  const rows = ownOptions(command).map((option) => [code(option.flags), defaultOf(option), option.description]);
  return markdownTable(["flag", "default", "what it does"], rows);
}

/** Returns a command's flags without those that set annotations, which have their own page. */
function ownOptions(command: Command): readonly Option[] {
  return command.options.filter(({ helpGroupHeading }) => helpGroupHeading === undefined);
}

function defaultOf({ defaultValue }: Option): string {
  return typeof defaultValue === "string" ? defaultValue : "–";
}

const EXIT_STATUS_CONSTANT = /^\/\*\* (.+) \*\/\nexport const EXIT_\w+ = (\d+);$/gm;

/** Reads the exit statuses from constants and their comments. @param file relative to `src` */
export function exitStatusReference(file: string): string {
  const source = readFileSync(join(import.meta.dirname, "..", file), "utf8");
  const rows = [...source.matchAll(EXIT_STATUS_CONSTANT)].map(([, meaning = "", status = ""]) => [status, meaning]);
  return markdownTable(["exit status", "means"], rows);
}

/** prom-client's type of a metric lacks these properties. */
type MetricRow = { readonly name: string; readonly help: string; readonly labelNames?: readonly string[] };

export function webhookMetricReference(): string {
  const { registry } = createMetrics();
  eventRecorder(SILENT_LOG, registry);
  addAuthorityGauges(registry, () => ({ isInSync: false, leafValidUntilMs: undefined, signer: undefined }));
  addEnforcementGauges(registry, () => ({ isEnforcing: false, why: "", reason: "none" }));
  createClusterMetrics(registry, () => ({ ageSeconds: 0, isStale: false, entries: 0 }));
  return metricTable(registry);
}

export function relayMetricReference(): string {
  const registry = new Registry();
  threadMetrics(registry);
  addGauge("heapUsed", registry, () => 0);
  identityRecorder(SILENT_LOG, registry, () => false);
  sliceMetrics(registry, () => 0);
  addGauge("streams", registry, () => 0);
  refusalCounter(registry, "refused");
  drainMetrics(registry);
  refusalCounter(registry, "drainReportsRefused");
  return metricTable(registry);
}

const SILENT_LOG = { debug: () => {}, info: () => {}, warn: () => {} } as unknown as Log;

function metricTable(registry: Registry): string {
  const metrics = registry.getMetricsAsArray() as unknown as readonly MetricRow[];
  const rows = metrics.map((metric) => [
    code(metric.name),
    metric.constructor.name.toLowerCase(),
    (metric.labelNames ?? []).filter((label) => label !== "le").join(", ") || "–",
    metric.help,
  ]);
  return markdownTable(["metric", "type", "labels", "means"], rows);
}
