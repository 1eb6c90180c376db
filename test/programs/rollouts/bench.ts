/**
 * `npm run bench:rollouts`: 20 rollouts of each protocol by itself at 500 requests a second, for every kind of client. Takes
 * about 20 minutes; `--only=TEXT` plays the scenes whose names contain the text. Needs network namespaces.
 */
import { join } from "node:path";
import { detectNamespaces } from "../../../src/demo/network/namespace-network.ts";
import { programOf } from "../install/program-of.ts";
import { recordResult } from "../results/record-result.ts";
import { ENVOY, playScene } from "./play-scene.ts";
import { BENCH_SCENES, type RolloutScene, sceneName } from "./rollout-scenes.ts";
import { otherTable, promisedTable } from "./rollouts-page.ts";
import { OVER_WAIT_GOAL_MS, type RolloutsLine } from "./rollouts-verdict.ts";

const only = process.argv.find((word) => word.startsWith("--only="))?.slice("--only=".length) ?? "";
const scenes = BENCH_SCENES.filter((scene) => sceneName(scene).includes(only));
const unknown = process.argv.slice(2).filter((word) => !word.startsWith("--only="));
// Each Pod starts a program of Node; what was compiled once is not compiled again.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "../../../build/compile-cache");
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());

const offer = detectNamespaces();
if (unknown.length > 0) complain(`got "${unknown.join(" ")}", expected nothing or --only=TEXT`);
else if (scenes.length === 0)
  complain(`--only got "${only}", expected a part of: ${BENCH_SCENES.map(sceneName).join("; ")}`);
else if (!offer.supported) complain(`network namespaces cannot be made here: ${offer.reason}`);
else await playAll();

async function playAll(): Promise<void> {
  const played: RolloutsLine[] = [];
  for (const scene of scenes) {
    if (stop.signal.aborted) return;
    // One scene that could not be played does not take the others with it.
    await play(scene, played).catch((error: unknown) => complain(`${sceneName(scene)}: ${String(error)}`));
  }
  for (const [part, show] of [
    [played.filter((line) => line.promised), promisedTable],
    [played.filter((line) => !line.promised), otherTable],
  ] as const)
    if (part.length > 0) process.stdout.write(`\n${show(part)}\n`);
}

async function play(scene: RolloutScene, played: RolloutsLine[]): Promise<void> {
  const envoy = scene.driver === "envoy" ? await programOf(ENVOY) : undefined;
  if (envoy?.kind === "missing") return complain(envoy.why);
  const { line, failures } = await playScene(scene, envoy, { signal: stop.signal, skip: complained });
  await recordResult(line);
  process.stdout.write(
    `${line.system}: over-wait at most ${OVER_WAIT_GOAL_MS} ms: ${line.withinGoal} of ${line.drains} drains; the longest: ${line.longestWhy}\n`,
  );
  played.push(line);
  for (const failure of failures) complain(`${line.system}: ${failure}`);
}

function complained(what: string): never {
  throw new Error(what);
}

function complain(what: string): void {
  process.stderr.write(`bench:rollouts: ${what}\n`);
  process.exitCode = 1;
}
