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
  const envoyResults = results.filter(isEnvoyResult);
  return replaceSection(
    replaceSection(page, COMPARISON_SECTION, comparisonTable(envoyResults)),
    PROTOCOL_SECTION,
    protocolTable(envoyResults),
  );
}

export function missingEnvoyCases(results: readonly OtherResult[]): readonly string[] {
  const envoyResults = results.filter(isEnvoyResult);
  return SCENARIOS.flatMap((scenario) =>
    VERSIONS.filter((version) => findEnvoyResult(envoyResults, scenario.key, version) === undefined).map(
      (version) => `Envoy ${version}, ${scenario.title}`,
    ),
  );
}

function comparisonTable(envoyResults: readonly EnvoyResult[]): string {
  const gatewayHead = ["a drain with", "Envoy Gateway", "after the traffic", "hook", "failed"];
  const lastcallHead = ["lastcall", "after the traffic", "hook", "failed"];
  const rows = GATEWAY_RESULTS.map((gateway) =>
    comparisonRow(gateway, requireEnvoyResult(envoyResults, gateway.scenario, "1.40")),
  );
  const memoryRow = [
    "resident memory of the manager",
    `${GATEWAY_RESIDENT_MIB} MiB`,
    "",
    "",
    "",
    `${peakMib(envoyResults)} MiB`,
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

function peakMib(envoyResults: readonly EnvoyResult[]): string {
  const peaks = envoyResults.filter(({ manager }) => manager === "native").map(({ managerPeakKib }) => managerPeakKib);
  return (Math.max(...peaks) / 1_024).toFixed(1);
}

const END_LABELS: Readonly<Record<Ending, string>> = {
  delay: "drain delay",
  idle: "delay and quiet period",
  quiet: "quiet period after the traffic",
  deadline: "deadline",
};

function protocolTable(envoyResults: readonly EnvoyResult[]): string {
  const versionHead = (version: string) => [`Envoy ${version}: released`, "over-wait", "failed"];
  const head = ["a drain with", "ends by", ...VERSIONS.flatMap(versionHead)];
  const rows = SCENARIOS.map((scenario) => [
    scenario.title,
    describeEnding(scenario),
    ...VERSIONS.flatMap((version) => {
      const result = requireEnvoyResult(envoyResults, scenario.key, version);
      return [
        `${result.releasedSeconds.toFixed(1)} s`,
        `${Math.max(0, result.overWaitSeconds).toFixed(2)} s`,
        failureCell(result),
      ];
    }),
  ]);
  return table([head, ...rows]);
}

function describeEnding({ ending, timeoutMs }: Scenario): string {
  return timeoutMs === undefined ? END_LABELS[ending] : `${END_LABELS[ending]} (${timeoutMs / 1_000} s)`;
}

function failureCell({ answered, failures, refused, cut }: EnvoyResult): string {
  if (cut > 0) return "cut";
  const retryNote = refused === 0 ? "" : ` (${refused} refused and retried)`;
  return `${failures.length} of ${answered + failures.length}${retryNote}`;
}

function titleOf(key: string): string {
  return SCENARIOS.find((scenario) => scenario.key === key)?.title ?? key;
}

function requireEnvoyResult(envoyResults: readonly EnvoyResult[], scenario: string, version: string): EnvoyResult {
  const result = findEnvoyResult(envoyResults, scenario, version);
  if (result === undefined) throw new Error(`no result of scenario ${scenario} with Envoy ${version}`);
  return result;
}

function findEnvoyResult(
  envoyResults: readonly EnvoyResult[],
  scenario: string,
  version: string,
): EnvoyResult | undefined {
  return envoyResults.find(
    (result) => result.scenario === scenario && result.version === version && result.manager === "native",
  );
}

function isEnvoyResult(result: OtherResult): result is EnvoyResult {
  return result.kind === "envoy";
}
