/** Writes the tables of docs/envoy.md from the results of real runs. Pure. */
import { replaceSection, table } from "../results/page.ts";
import type { OtherResult } from "../results/program-result.ts";
import { VERSIONS } from "./envoy-cases.ts";
import type { EnvoyResult } from "./envoy-result.ts";
import type { Ending, Scenario } from "./envoy-scenario.ts";
import { SCENARIOS } from "./envoy-scenarios.ts";
import { GATEWAY_RESIDENT_MIB, GATEWAY_RESULTS, type GatewayResult } from "./gateway-results.ts";

const AGAINST = "against Envoy Gateway";
const PROTOCOLS = "protocols before Envoy";

export function withEnvoy(page: string, results: readonly OtherResult[]): string {
  const runs = results.filter(isEnvoy);
  return replaceSection(replaceSection(page, AGAINST, comparisonTable(runs)), PROTOCOLS, protocolTable(runs));
}

export function missingEnvoy(results: readonly OtherResult[]): readonly string[] {
  const runs = results.filter(isEnvoy);
  return SCENARIOS.flatMap((scenario) =>
    VERSIONS.filter((version) => find(runs, scenario.key, version) === undefined).map(
      (version) => `Envoy ${version}, ${scenario.title}`,
    ),
  );
}

function comparisonTable(runs: readonly EnvoyResult[]): string {
  const head = ["a drain with", "Envoy Gateway", "after the traffic", "hook", "failed"];
  const ours = ["lastcall", "after the traffic", "hook", "failed"];
  const rows = GATEWAY_RESULTS.map((theirs) => comparisonRow(theirs, requiredRun(runs, theirs.scenario, "1.40")));
  const resident = [
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
  return table([[...head, ...ours], ...rows, resident]);
}

function comparisonRow(theirs: GatewayResult, ours: EnvoyResult): string[] {
  const stays = ours.cut > 0;
  return [
    titleOf(theirs.scenario),
    `${theirs.releasedSeconds.toFixed(1)} s`,
    theirs.afterTrafficSeconds === undefined ? "–" : `${theirs.afterTrafficSeconds.toFixed(1)} s`,
    "failed",
    theirs.failed,
    `${ours.releasedSeconds.toFixed(1)} s`,
    stays ? "–" : `${ours.afterTrafficSeconds.toFixed(1)} s`,
    ours.hooksFailed > 0 ? "failed" : String(ours.hookStatus),
    failed(ours),
  ];
}

function peakMib(runs: readonly EnvoyResult[]): string {
  const peaks = runs.filter(({ manager }) => manager === "native").map(({ managerPeakKib }) => managerPeakKib);
  return (Math.max(...peaks) / 1_024).toFixed(1);
}

const ENDS: Readonly<Record<Ending, string>> = {
  delay: "drain delay",
  idle: "delay and quiet period",
  quiet: "quiet period after the traffic",
  deadline: "deadline",
};

function protocolTable(runs: readonly EnvoyResult[]): string {
  const ofVersion = (version: string) => [`Envoy ${version}: released`, "over-wait", "failed"];
  const head = ["a drain with", "ends by", ...VERSIONS.flatMap(ofVersion)];
  const rows = SCENARIOS.map((scenario) => [
    scenario.title,
    endsBy(scenario),
    ...VERSIONS.flatMap((version) => {
      const run = requiredRun(runs, scenario.key, version);
      return [`${run.releasedSeconds.toFixed(1)} s`, `${Math.max(0, run.overWaitSeconds).toFixed(2)} s`, failed(run)];
    }),
  ]);
  return table([head, ...rows]);
}

function endsBy({ ends, timeoutMs }: Scenario): string {
  return timeoutMs === undefined ? ENDS[ends] : `${ENDS[ends]} (${timeoutMs / 1_000} s)`;
}

function failed({ answered, failures, refused, cut }: EnvoyResult): string {
  if (cut > 0) return "cut";
  const retried = refused === 0 ? "" : ` (${refused} refused and retried)`;
  return `${failures.length} of ${answered + failures.length}${retried}`;
}

function titleOf(key: string): string {
  return SCENARIOS.find((scenario) => scenario.key === key)?.title ?? key;
}

function requiredRun(runs: readonly EnvoyResult[], scenario: string, version: string): EnvoyResult {
  const run = find(runs, scenario, version);
  if (run === undefined) throw new Error(`no result of scenario ${scenario} with Envoy ${version}`);
  return run;
}

function find(runs: readonly EnvoyResult[], scenario: string, version: string): EnvoyResult | undefined {
  return runs.find((run) => run.scenario === scenario && run.version === version && run.manager === "native");
}

function isEnvoy(result: OtherResult): result is EnvoyResult {
  return result.kind === "envoy";
}
