/** The tables of docs/envoy.md from the results of real runs. Pure. */
import { table, within } from "../results/page.ts";
import type { OtherResult } from "../results/program-result.ts";
import { VERSIONS } from "./cases.ts";
import type { EnvoyResult } from "./envoy-result.ts";
import { GATEWAY_FIGURES, GATEWAY_RESIDENT_MIB, type GatewayFigures } from "./gateway-figures.ts";
import type { Ending, Scene } from "./scene.ts";
import { SCENES } from "./scenes.ts";

const AGAINST = "against Envoy Gateway";
const PROTOCOLS = "protocols before Envoy";

/** @throws where the page lacks a mark, or a result is missing; {@link missingEnvoy} says which */
export function withEnvoy(page: string, results: readonly OtherResult[]): string {
  const runs = results.filter(isEnvoy);
  return within(within(page, AGAINST, against(runs)), PROTOCOLS, protocols(runs));
}

/** What was not measured with the native manager, in words. */
export function missingEnvoy(results: readonly OtherResult[]): readonly string[] {
  const runs = results.filter(isEnvoy);
  return SCENES.flatMap((scene) =>
    VERSIONS.filter((version) => find(runs, scene.key, version) === undefined).map(
      (version) => `Envoy ${version}, ${scene.says}`,
    ),
  );
}

function against(runs: readonly EnvoyResult[]): string {
  const head = ["a drain with", "Envoy Gateway", "after the traffic", "hook", "failed"];
  const ours = ["lastcall", "after the traffic", "hook", "failed"];
  const rows = GATEWAY_FIGURES.map((theirs) => againstRow(theirs, theRun(runs, theirs.scene, "1.40")));
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

function againstRow(theirs: GatewayFigures, ours: EnvoyResult): string[] {
  const stays = ours.cut > 0;
  return [
    says(theirs.scene),
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

/** The highest of all runs with the native manager. */
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

function protocols(runs: readonly EnvoyResult[]): string {
  const ofVersion = (version: string) => [`Envoy ${version}: released`, "over-wait", "failed"];
  const head = ["a drain with", "ends by", ...VERSIONS.flatMap(ofVersion)];
  const rows = SCENES.map((scene) => [
    scene.says,
    endsBy(scene),
    ...VERSIONS.flatMap((version) => {
      const run = theRun(runs, scene.key, version);
      return [`${run.releasedSeconds.toFixed(1)} s`, `${Math.max(0, run.overWaitSeconds).toFixed(2)} s`, failed(run)];
    }),
  ]);
  return table([head, ...rows]);
}

function endsBy({ ends, timeoutMs }: Scene): string {
  return timeoutMs === undefined ? ENDS[ends] : `${ENDS[ends]} (${timeoutMs / 1_000} s)`;
}

function failed({ answered, failures, refused, cut }: EnvoyResult): string {
  if (cut > 0) return "cut";
  const again = refused === 0 ? "" : ` (${refused} given back)`;
  return `${failures.length} of ${answered + failures.length}${again}`;
}

function says(key: string): string {
  return SCENES.find((scene) => scene.key === key)?.says ?? key;
}

function theRun(runs: readonly EnvoyResult[], scene: string, version: string): EnvoyResult {
  const run = find(runs, scene, version);
  if (run === undefined) throw new Error(`no result of scene ${scene} before Envoy ${version}`);
  return run;
}

function find(runs: readonly EnvoyResult[], scene: string, version: string): EnvoyResult | undefined {
  return runs.find((run) => run.scene === scene && run.version === version && run.manager === "native");
}

function isEnvoy(result: OtherResult): result is EnvoyResult {
  return result.kind === "envoy";
}
