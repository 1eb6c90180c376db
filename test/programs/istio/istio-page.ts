/** Writes the table of docs/envoy.md about Istio's sidecar from the results of real runs. Pure. */
import { replaceSection, table } from "../results/page.ts";
import type { OtherResult } from "../results/program-result.ts";
import { ISTIO_CASES, type IstioCase, type IstioResult } from "./istio-case.ts";

const SECTION = "Istio's sidecar";

const HEAD = [
  "proxy",
  "Envoy",
  "statistics",
  "app released",
  "over-wait",
  "inbound failed",
  "outbound failed",
  "outbound after the app's stop signal",
  "outbound with `Connection: close`",
  "proxy's stop signal",
];

export function insertIstioTable(page: string, results: readonly OtherResult[]): string {
  const runs = results.filter(isIstioResult);
  const rows = ISTIO_CASES.map((istioCase) => {
    const run = findRun(runs, istioCase);
    if (run === undefined) throw new Error(`no result of ${describeCase(istioCase)}`);
    return buildRow(run);
  });
  return replaceSection(page, SECTION, table([HEAD, ...rows]));
}

export function missingIstioCases(results: readonly OtherResult[]): readonly string[] {
  const runs = results.filter(isIstioResult);
  return ISTIO_CASES.filter((istioCase) => findRun(runs, istioCase) === undefined).map(describeCase);
}

function buildRow(run: IstioResult): string[] {
  const { calls } = run;
  return [
    run.form,
    run.version,
    run.statistics === "cut" ? "Istio's default" : "all",
    `${run.releasedSeconds.toFixed(1)} s`,
    `${Math.max(0, run.overWaitSeconds).toFixed(2)} s`,
    `${run.failures.length} of ${run.answered + run.failures.length}`,
    `${calls.failures.length} of ${calls.answered + calls.failures.length}`,
    String(calls.afterSignal),
    String(calls.closeHeaders),
    `${run.proxyAfterAppSeconds.toFixed(1)} s after the app's exit`,
  ];
}

function findRun(runs: readonly IstioResult[], { form, version, statistics }: IstioCase): IstioResult | undefined {
  return runs.find((run) => run.form === form && run.version === version && run.statistics === statistics);
}

function describeCase({ form, version, statistics }: IstioCase): string {
  return `Istio's ${form} proxy with Envoy ${version}, statistics ${statistics}`;
}

function isIstioResult(result: OtherResult): result is IstioResult {
  return result.kind === "istio";
}
