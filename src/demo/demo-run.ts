/** Runs the rolling update without lastcall and with it, and prints the result. */
import { writeFile } from "node:fs/promises";
import { realClock } from "./clock.ts";
import { DEFAULT_LOAD, type LoadShape } from "./load/load.ts";
import type { PodNetwork } from "./network/pod-network.ts";
import type { DemoOptions } from "./options.ts";
import { localManagerImage } from "./pods/pod-runner.ts";
import type { ProcessTable } from "./pods/process-table.ts";
import type { PreparedRun } from "./prepared-run.ts";
import { compareRuns, SLEEP_SECONDS } from "./report/comparison.ts";
import type { VariantResult } from "./report/pod-end.ts";
import { longestDrain, reportLines, resultJson } from "./report/report.ts";
import { timelineOf } from "./report/timeline.ts";
import { timelineSvg } from "./report/timeline-svg.ts";
import { type AdmissionTarget, admitPod } from "./rollout/admission-client.ts";
import { identityOf, withSleepHooks } from "./rollout/deployment.ts";
import { startServers } from "./servers.ts";
import { runVariant, type VariantPorts, type VariantRequest } from "./variant.ts";

type RunPorts = {
  readonly network: PodNetwork;
  readonly processes: ProcessTable;
  readonly scratch: string;
  readonly program: readonly string[];
  readonly nodeEnvironment: Readonly<Record<string, string>>;
};

const ENDLESS_CLIENTS = 4;
const DEFAULT_COLUMNS = 100;

export async function runDemo(run: PreparedRun, ports: RunPorts): Promise<number> {
  const { options, imageEnvironment } = run;
  const { network, processes } = ports;
  const { propagationMs, longRequest } = options;
  const { manager, ...image } = localManagerImage();
  const print = (text: string) => {
    if (!options.json) process.stdout.write(`${text}\n`);
  };
  print(
    network.kind === "namespace"
      ? "Network: each Pod runs in its own network namespace."
      : "Network: each Pod has its own loopback address; network namespaces are not used.",
  );
  print(`Manager: ${manager === "native" ? "native build" : `Node build, Node ${process.version}`}.`);
  if (!options.withoutRelay) print("API server: simulated.");
  const servers = await startServers(
    { relay: !options.withoutRelay, namespace: identityOf(run.deployment).namespace },
    {
      ...ports,
      clock: realClock,
      environment: { ...imageEnvironment, ...ports.nodeEnvironment },
      host: network.webhookAddress,
    },
  );
  const request = { ...run, propagationMs, longRequest, load: loadOf(options) };
  const variantPorts = { ...image, clock: realClock, processes, network, imageEnvironment };
  try {
    print("\nRolling update without lastcall …");
    const admitUnchanged = (pod: object) => Promise.resolve(pod);
    const unchanged = { ...variantPorts, admit: admitUnchanged, writeSlice: undefined };
    const without = await runVariant(request, unchanged);
    print(`  finished after ${(without.tookMs / 1_000).toFixed(1)} s`);
    const sleep = options.compare === "sleep" ? await runWithSleep(request, unchanged, print) : undefined;
    print("Rolling update with lastcall …");
    const admit = admitWith(servers.webhook, (warning) => print(`  warning of the webhook: ${warning}`));
    const variantResult = await runVariant(request, { ...variantPorts, admit, writeSlice: servers.writeSlice });
    print(`  finished after ${(variantResult.tookMs / 1_000).toFixed(1)} s`);
    const comparison = compareRuns({
      without: without.counts,
      sleep: sleep?.counts,
      with: variantResult.counts,
      summaries: variantResult.endedPods.flatMap((end) => end.summary ?? []),
      propagationMs,
    });
    const demoResult = { without, sleep, with: variantResult, comparison };
    const drawnPod = longestDrain(variantResult.endedPods);
    if (options.svg !== "" && drawnPod !== undefined) await writeFile(options.svg, timelineSvg(timelineOf(drawnPod)));
    if (options.json)
      process.stdout.write(`${resultJson(demoResult, { network: network.kind, manager, propagationMs })}\n`);
    print(`\n${reportLines(demoResult, process.stdout.columns ?? DEFAULT_COLUMNS).join("\n")}`);
    return comparison.exitStatus;
  } finally {
    await servers.stop();
  }
}

async function runWithSleep(
  request: VariantRequest,
  ports: VariantPorts,
  print: (text: string) => void,
): Promise<VariantResult> {
  print(`Rolling update with preStop: sleep ${SLEEP_SECONDS}, without lastcall …`);
  const deployment = withSleepHooks(request.deployment, SLEEP_SECONDS);
  const result = await runVariant({ ...request, deployment }, ports);
  print(`  finished after ${(result.tookMs / 1_000).toFixed(1)} s`);
  return result;
}

function admitWith(webhook: AdmissionTarget, onWarning: (warning: string) => void) {
  const reported = new Set<string>();
  return async (pod: object): Promise<object> => {
    const { pod: admitted, warnings } = await admitPod(pod, webhook);
    for (const warning of warnings.filter((candidate) => !reported.has(candidate))) onWarning(warning);
    for (const warning of warnings) reported.add(warning);
    return admitted;
  };
}

function loadOf(options: DemoOptions): LoadShape {
  return {
    ...DEFAULT_LOAD,
    endlessClients: options.endlessClients ? ENDLESS_CLIENTS : 0,
    ...(options.file === "" ? {} : { path: options.path, slowPath: undefined }),
  };
}
