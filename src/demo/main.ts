/** `lastcall demo`: reads what was asked, chooses a network, runs, tells, and leaves nothing behind. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Fault } from "../fault.ts";
import { problemText } from "../settings/read-settings.ts";
import { realClock } from "./clock.ts";
import { type DemoRequest, runDemo } from "./demo-run.ts";
import { EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE } from "./exit-statuses.ts";
import { createLoopbackNetwork } from "./network/loopback-network.ts";
import { createNamespaceNetwork, offerNamespaces, runInside } from "./network/namespace-network.ts";
import type { PodNetwork } from "./network/pod-network.ts";
import { DEMO_HELP, type DemoOptions, drainAnnotations, readOptions } from "./options.ts";
import { localManagerImage } from "./pods/manager-image.ts";
import { createProcessTable, type ProcessTable } from "./pods/process-table.ts";
import { annotated, placeOf, replicasOf, SAMPLE_DRIVER, sampleDeployment, servicePort } from "./rollout/deployment.ts";
import { readDeployment } from "./rollout/deployment-file.ts";
import { unrunnable } from "./rollout/runnable.ts";
import { startServers } from "./servers.ts";
import { resultJson, storyLines, worstEnd } from "./story/story.ts";
import { timelineOf } from "./story/timeline.ts";
import { timelineSvg } from "./story/timeline-svg.ts";
import { pictureProblems, thisMachine } from "./this-machine.ts";

/** First word of the demo that was started again inside its private namespaces. */
const INSIDE = "inside-namespaces";

const LASTCALL = fileURLToPath(new URL("../lastcall.ts", import.meta.url));
const SAMPLE_APP = fileURLToPath(new URL("./sample-app.ts", import.meta.url));

/** Answers the exit status: 0 when no request failed with lastcall, 1 otherwise, 64 for a wrong flag or file. */
export async function main(args: readonly string[]): Promise<number> {
  const inside = args[0] === INSIDE;
  const words = inside ? args.slice(1) : args;
  const { settings: options, problems, help } = readOptions(words);
  if (help) {
    process.stdout.write(DEMO_HELP);
    return EXIT_OK;
  }
  if (problems.length > 0) return complain(problems.map(problemText));
  if (!existsSync(LASTCALL)) {
    process.stderr.write("lastcall demo: runs in a clone of the repository only: npm ci && npm run demo\n");
    return EXIT_FAILED;
  }
  if (inside) return runHere(options, () => createNamespaceNetwork());
  const offer = options.network === "loopback" ? undefined : offerNamespaces();
  if (offer?.possible === true) {
    const stop = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
    return runInside({
      prefix: offer.prefix,
      command: [process.execPath, LASTCALL, "demo", INSIDE, ...words],
      environment: process.env,
      stop: stop.signal,
    });
  }
  if (options.network === "namespace") return complain([`Network namespaces cannot be made here: ${offer?.why ?? ""}`]);
  return runHere(options, async () => createLoopbackNetwork());
}

async function runHere(options: DemoOptions, makeNetwork: () => Promise<PodNetwork>): Promise<number> {
  const processes = createProcessTable();
  const scratch = mkdtempSync(join(tmpdir(), "lastcall-demo-"));
  // However the program ends, this runs last.
  process.on("exit", () => {
    processes.killAll();
    rmSync(scratch, { recursive: true, force: true });
  });
  const leash = watchForStop();
  try {
    return await demonstrate(options, await makeNetwork(), processes, scratch);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    process.stderr.write(`lastcall demo: ${error.message}\n`);
    return EXIT_FAILED;
  } finally {
    processes.killAll();
    leash();
  }
}

async function demonstrate(
  options: DemoOptions,
  network: PodNetwork,
  processes: ProcessTable,
  scratch: string,
): Promise<number> {
  const imageEnvironment = environmentOfImages();
  const request = await requestOf(options, network, imageEnvironment);
  const problems = [...request.problems, ...pictureProblems(options.svg)];
  if (problems.length > 0) return complain(problems);
  const image = localManagerImage();
  const native = image.manager === "native";
  const tell = (line: string) => {
    if (!options.json) process.stdout.write(`${line}\n`);
  };
  tell(
    network.kind === "namespace"
      ? "Each Pod has a network namespace of its own."
      : "Each Pod has a loopback address of its own (network namespaces are not used).",
  );
  tell(`The manager is ${native ? "the native build" : `the Node build on ${process.version}`}.`);
  if (!options.withoutRelay) tell("The API server that the webhook's relay watches is played by the demo.");
  const servers = await startServers(
    { relay: !options.withoutRelay, namespace: placeOf(request.deployment).namespace },
    {
      clock: realClock,
      processes,
      program: [process.execPath, LASTCALL],
      // The webhook is this program once more, and no container: what Node was told here holds for it.
      environment: { ...imageEnvironment, ...variables(["NODE_OPTIONS", "NODE_COMPILE_CACHE"]) },
      scratch,
      host: network.webhookAddress,
    },
  );
  const result = await runDemo(request, {
    clock: realClock,
    processes,
    network,
    random: Math.random,
    managerProgram: image.managerProgram,
    preloadLibrary: image.preloadLibrary,
    imageEnvironment,
    webhook: servers.webhook,
    writeSlice: servers.writeSlice,
    tell,
  }).finally(servers.stop);
  const shown = worstEnd(result.with.ended);
  if (options.svg !== "" && shown !== undefined) await writeFile(options.svg, timelineSvg(timelineOf(shown)));
  const facts = { network: network.kind, manager: image.manager, propagationMs: options.propagationMs };
  if (options.json) process.stdout.write(`${resultJson(result, facts)}\n`);
  else process.stdout.write(`\n${storyLines(result, process.stdout.columns ?? 100).join("\n")}\n`);
  return result.verdict.status;
}

type PreparedRequest = DemoRequest & { readonly problems: readonly string[] };

async function requestOf(
  options: DemoOptions,
  network: PodNetwork,
  environment: Readonly<Record<string, string>>,
): Promise<PreparedRequest> {
  const read =
    options.file === ""
      ? { deployment: sampleFor(options, network), problems: [] }
      : await readDeployment(options.file);
  const machine = thisMachine(process.cwd(), environment["PATH"] ?? "");
  return {
    deployment: annotated(read.deployment, drainAnnotations(options)),
    problems: read.problems.length > 0 ? read.problems : unrunnable(read.deployment, machine),
    replicas: replicasOf(read.deployment),
    port: servicePort(read.deployment),
    options,
  };
}

function sampleFor(options: DemoOptions, network: PodNetwork): object {
  const sample = sampleDeployment({
    command: [process.execPath, SAMPLE_APP],
    listensOnPodAddress: network.kind === "loopback",
    replicas: options.replicas,
  });
  return options.driver === "http" ? annotated(sample, SAMPLE_DRIVER) : sample;
}

/** Ctrl-C, SIGTERM, or the end of the outer demo: leave now; the exit handler cleans up. @returns takes the watch off. */
function watchForStop(): () => void {
  const leave = () => process.exit(EXIT_INTERRUPTED);
  process.on("SIGINT", leave);
  process.on("SIGTERM", leave);
  // The reader has gone, as after `lastcall demo | head`.
  process.stdout.on("error", leave);
  const leashed = process.argv.includes(INSIDE);
  if (leashed) process.stdin.once("end", leave).once("error", leave).resume();
  return () => {
    process.off("SIGINT", leave);
    process.off("SIGTERM", leave);
    if (leashed) process.stdin.off("end", leave).destroy();
  };
}

/** What an image would set; nothing else of this shell reaches a container. */
function environmentOfImages(): Record<string, string> {
  return variables(["PATH", "HOME", "LANG"]);
}

function variables(names: readonly string[]): Record<string, string> {
  const set: Record<string, string> = {};
  for (const name of names) {
    const value = process.env[name];
    if (value !== undefined) set[name] = value;
  }
  return set;
}

function complain(problems: readonly string[]): number {
  for (const problem of problems) process.stderr.write(`lastcall demo: ${problem}\n`);
  return EXIT_USAGE;
}
