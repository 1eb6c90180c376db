/** Runs the rolling update without lastcall and with it, and prints the result. */
import { writeFile } from "node:fs/promises";
import { realClock } from "./clock.ts";
import { DEFAULT_LOAD, type LoadOptions } from "./load/load.ts";
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
  const { propagationMs, longRequest: hasLongRequest } = options;
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
    { hasRelay: !options.withoutRelay, namespace: identityOf(run.deployment).namespace },
    {
      ...ports,
      clock: realClock,
      environment: { ...imageEnvironment, ...ports.nodeEnvironment },
      host: network.webhookAddress,
    },
  );
  const request = { ...run, propagationMs, hasLongRequest, loadOptions: loadOptionsOf(options) };
  const variantPorts = { ...image, clock: realClock, processes, network, imageEnvironment };
  try {
    print("\nRolling update without lastcall …");
    const admitUnchanged = (pod: object) => Promise.resolve(pod);
    const unchangedPodPorts = { ...variantPorts, admit: admitUnchanged, writeSlice: undefined };
    const withoutLastcall = await runVariant(request, unchangedPodPorts);
    print(`  finished after ${(withoutLastcall.durationMs / 1_000).toFixed(1)} s`);
    const sleep = options.compare === "sleep" ? await runWithSleep(request, unchangedPodPorts, print) : undefined;
    print("Rolling update with lastcall …");
    const admit = admitWith(servers.webhook, (warning) => print(`  warning of the webhook: ${warning}`));
    const withLastcall = await runVariant(request, { ...variantPorts, admit, writeSlice: servers.writeSlice });
    print(`  finished after ${(withLastcall.durationMs / 1_000).toFixed(1)} s`);
    const comparison = compareRuns({
      without: withoutLastcall.counts,
      sleep: sleep?.counts,
      with: withLastcall.counts,
      summaries: withLastcall.endedPods.flatMap((end) => end.summary ?? []),
      propagationMs,
    });
    const demoResult = { without: withoutLastcall, sleep, with: withLastcall, comparison };
    const drawnPod = longestDrain(withLastcall.endedPods);
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
  print(`  finished after ${(result.durationMs / 1_000).toFixed(1)} s`);
  return result;
}

function admitWith(webhook: AdmissionTarget, onWarning: (warning: string) => void) {
  const reportedWarnings = new Set<string>();
  return async (pod: object): Promise<object> => {
    const { pod: admitted, warnings } = await admitPod(pod, webhook);
    for (const warning of warnings.filter((candidate) => !reportedWarnings.has(candidate))) onWarning(warning);
    for (const warning of warnings) reportedWarnings.add(warning);
    return admitted;
  };
}

function loadOptionsOf(options: DemoOptions): LoadOptions {
  return {
    ...DEFAULT_LOAD,
    endlessClients: options.endlessClients ? ENDLESS_CLIENTS : 0,
    ...(options.file === "" ? {} : { path: options.path, slowPath: undefined }),
  };
}
