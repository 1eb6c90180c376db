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
  const istioResults = results.filter(isIstioResult);
  const rows = ISTIO_CASES.map((istioCase) => {
    const result = findIstioResult(istioResults, istioCase);
    if (result === undefined) throw new Error(`no result of ${describeCase(istioCase)}`);
    return buildRow(result);
  });
  return replaceSection(page, SECTION, table([HEAD, ...rows]));
}

export function missingIstioCases(results: readonly OtherResult[]): readonly string[] {
  const istioResults = results.filter(isIstioResult);
  return ISTIO_CASES.filter((istioCase) => findIstioResult(istioResults, istioCase) === undefined).map(describeCase);
}

function buildRow(result: IstioResult): string[] {
  const { calls } = result;
  return [
    result.form,
    result.version,
    result.statistics === "cut" ? "Istio's default" : "all",
    `${result.releasedSeconds.toFixed(1)} s`,
    `${Math.max(0, result.overWaitSeconds).toFixed(2)} s`,
    `${result.failures.length} of ${result.answered + result.failures.length}`,
    `${calls.failures.length} of ${calls.answered + calls.failures.length}`,
    String(calls.afterSignal),
    String(calls.closeHeaders),
    `${result.proxyAfterAppSeconds.toFixed(1)} s after the app's exit`,
  ];
}

function findIstioResult(
  istioResults: readonly IstioResult[],
  { form, version, statistics }: IstioCase,
): IstioResult | undefined {
  return istioResults.find(
    (result) => result.form === form && result.version === version && result.statistics === statistics,
  );
}

function describeCase({ form, version, statistics }: IstioCase): string {
  return `Istio's ${form} proxy with Envoy ${version}, statistics ${statistics}`;
}

function isIstioResult(result: OtherResult): result is IstioResult {
  return result.kind === "istio";
}
