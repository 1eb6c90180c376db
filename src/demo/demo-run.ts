/** Runs the rolling update twice, without lastcall and through the real webhook, and reports the result. */
import { writeFile } from "node:fs/promises";
import { realClock } from "./clock.ts";
import { DEFAULT_LOAD, type LoadShape } from "./load/load.ts";
import type { PodNetwork } from "./network/pod-network.ts";
import type { DemoOptions } from "./options.ts";
import { localManagerImage } from "./pods/pod-runner.ts";
import type { ProcessTable } from "./pods/process-table.ts";
import type { PreparedRun } from "./prepared-run.ts";
import { reportLines, resultJson, worstEnd } from "./report/report.ts";
import { timelineOf } from "./report/timeline.ts";
import { timelineSvg } from "./report/timeline-svg.ts";
import { verdictOf } from "./report/verdict.ts";
import { type AdmissionTarget, admitPod } from "./rollout/admission-client.ts";
import { placeOf } from "./rollout/deployment.ts";
import { startServers } from "./servers.ts";
import { runVariant } from "./variant.ts";

type RunPorts = {
  readonly network: PodNetwork;
  readonly processes: ProcessTable;
  /** A folder that is removed at the end. */
  readonly scratch: string;
  /** The command line of `lastcall`. */
  readonly program: readonly string[];
  /** Settings of Node for the webhook, which runs outside the containers. */
  readonly nodeEnvironment: Readonly<Record<string, string>>;
};

const ENDLESS_CLIENTS = 4;
const DEFAULT_COLUMNS = 100;

/** @returns the exit status */
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
      ? "Each Pod has a network namespace of its own."
      : "Each Pod has a loopback address of its own (network namespaces are not used).",
  );
  print(`The manager is ${manager === "native" ? "the native build" : `the Node build on ${process.version}`}.`);
  if (!options.withoutRelay) print("The API server that the webhook's relay watches is played by the demo.");
  const servers = await startServers(
    { relay: !options.withoutRelay, namespace: placeOf(run.deployment).namespace },
    {
      ...ports,
      clock: realClock,
      environment: { ...imageEnvironment, ...ports.nodeEnvironment },
      host: network.webhookAddress,
    },
  );
  const request = { ...run, propagationMs, longRequest, load: loadOf(options) };
  const variantPorts = { ...image, clock: realClock, processes, network, random: Math.random, imageEnvironment };
  try {
    print("Rolling update without lastcall …");
    const admitUnchanged = (pod: object) => Promise.resolve(pod);
    const without = await runVariant(request, { ...variantPorts, admit: admitUnchanged, writeSlice: undefined });
    print(`  ${(without.tookMs / 1_000).toFixed(1)} s. Rolling update with lastcall …`);
    const admit = admitWith(servers.webhook, (warning) => print(`  webhook: ${warning}`));
    const result = await runVariant(request, { ...variantPorts, admit, writeSlice: servers.writeSlice });
    print(`  ${(result.tookMs / 1_000).toFixed(1)} s.`);
    const verdict = verdictOf({
      without: without.tally,
      with: result.tally,
      summaries: result.ended.flatMap((end) => end.summary ?? []),
      propagationMs,
    });
    const both = { without, with: result, verdict };
    const shown = worstEnd(result.ended);
    if (options.svg !== "" && shown !== undefined) await writeFile(options.svg, timelineSvg(timelineOf(shown)));
    if (options.json) process.stdout.write(`${resultJson(both, { network: network.kind, manager, propagationMs })}\n`);
    print(`\n${reportLines(both, process.stdout.columns ?? DEFAULT_COLUMNS).join("\n")}`);
    return verdict.status;
  } finally {
    await servers.stop();
  }
}

/** Reports each different warning once. */
function admitWith(webhook: AdmissionTarget, onWarning: (warning: string) => void) {
  const reported = new Set<string>();
  return async (pod: object): Promise<object> => {
    const { pod: admitted, warnings } = await admitPod(pod, webhook);
    for (const warning of warnings.filter((each) => !reported.has(each))) onWarning(warning);
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
