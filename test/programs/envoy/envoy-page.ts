/** Writes the tables of docs/envoy.md from the results of real runs. Pure. */
import { replaceSection, table } from "../results/page.ts";
import type { OtherResult } from "../results/program-result.ts";
import { VERSIONS } from "./envoy-cases.ts";
import type { EnvoyResult } from "./envoy-result.ts";
import type { Ending, Scenario } from "./envoy-scenario.ts";
import { SCENARIOS } from "./envoy-scenarios.ts";
import { GATEWAY_RESIDENT_MIB, GATEWAY_RESULTS, type GatewayResult } from "./gateway-results.ts";

const COMPARISON_SECTION = "against Envoy Gateway";
const PROTOCOL_SECTION = "protocols before Envoy";

export function insertEnvoyTables(page: string, results: readonly OtherResult[]): string {
  const runs = results.filter(isEnvoyResult);
  return replaceSection(
    replaceSection(page, COMPARISON_SECTION, comparisonTable(runs)),
    PROTOCOL_SECTION,
    protocolTable(runs),
  );
}

export function missingEnvoyCases(results: readonly OtherResult[]): readonly string[] {
  const runs = results.filter(isEnvoyResult);
  return SCENARIOS.flatMap((scenario) =>
    VERSIONS.filter((version) => findRun(runs, scenario.key, version) === undefined).map(
      (version) => `Envoy ${version}, ${scenario.title}`,
    ),
  );
}

function comparisonTable(runs: readonly EnvoyResult[]): string {
  const gatewayHead = ["a drain with", "Envoy Gateway", "after the traffic", "hook", "failed"];
  const lastcallHead = ["lastcall", "after the traffic", "hook", "failed"];
  const rows = GATEWAY_RESULTS.map((gateway) => comparisonRow(gateway, requireRun(runs, gateway.scenario, "1.40")));
  const memoryRow = [
    "resident memory of the manager",
    `${GATEWAY_RESIDENT_MIB} MiB`,
    "",
    "",
    "",
    `${peakMib(runs)} MiB`,
    "",
    "",
    "",
  ];
  return table([[...gatewayHead, ...lastcallHead], ...rows, memoryRow]);
}

function comparisonRow(gateway: GatewayResult, lastcall: EnvoyResult): string[] {
  const isCut = lastcall.cut > 0;
  return [
    titleOf(gateway.scenario),
    `${gateway.releasedSeconds.toFixed(1)} s`,
    gateway.afterTrafficSeconds === undefined ? "–" : `${gateway.afterTrafficSeconds.toFixed(1)} s`,
    "failed",
    gateway.failureCell,
    `${lastcall.releasedSeconds.toFixed(1)} s`,
    isCut ? "–" : `${lastcall.afterTrafficSeconds.toFixed(1)} s`,
    lastcall.hooksFailed > 0 ? "failed" : String(lastcall.hookStatus),
    failureCell(lastcall),
  ];
}

function peakMib(runs: readonly EnvoyResult[]): string {
  const peaks = runs.filter(({ manager }) => manager === "native").map(({ managerPeakKib }) => managerPeakKib);
  return (Math.max(...peaks) / 1_024).toFixed(1);
}

const END_LABELS: Readonly<Record<Ending, string>> = {
  delay: "drain delay",
  idle: "delay and quiet period",
  quiet: "quiet period after the traffic",
  deadline: "deadline",
};

function protocolTable(runs: readonly EnvoyResult[]): string {
  const versionHead = (version: string) => [`Envoy ${version}: released`, "over-wait", "failed"];
  const head = ["a drain with", "ends by", ...VERSIONS.flatMap(versionHead)];
  const rows = SCENARIOS.map((scenario) => [
    scenario.title,
    endsBy(scenario),
    ...VERSIONS.flatMap((version) => {
      const run = requireRun(runs, scenario.key, version);
      return [
        `${run.releasedSeconds.toFixed(1)} s`,
        `${Math.max(0, run.overWaitSeconds).toFixed(2)} s`,
        failureCell(run),
      ];
    }),
  ]);
  return table([head, ...rows]);
}

function endsBy({ ends, timeoutMs }: Scenario): string {
  return timeoutMs === undefined ? END_LABELS[ends] : `${END_LABELS[ends]} (${timeoutMs / 1_000} s)`;
}

function failureCell({ answered, failures, refused, cut }: EnvoyResult): string {
  if (cut > 0) return "cut";
  const retried = refused === 0 ? "" : ` (${refused} refused and retried)`;
  return `${failures.length} of ${answered + failures.length}${retried}`;
}

function titleOf(key: string): string {
  return SCENARIOS.find((scenario) => scenario.key === key)?.title ?? key;
}

function requireRun(runs: readonly EnvoyResult[], scenario: string, version: string): EnvoyResult {
  const run = findRun(runs, scenario, version);
  if (run === undefined) throw new Error(`no result of scenario ${scenario} with Envoy ${version}`);
  return run;
}

function findRun(runs: readonly EnvoyResult[], scenario: string, version: string): EnvoyResult | undefined {
  return runs.find((run) => run.scenario === scenario && run.version === version && run.manager === "native");
}

function isEnvoyResult(result: OtherResult): result is EnvoyResult {
  return result.kind === "envoy";
}
