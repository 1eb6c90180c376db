/** Process 1 of the namespaces: plays all cases, several that mostly wait beside one that works, and writes what came. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeCaPair, makeServerPair } from "../../../src/authority/signing.ts";
import { realClock } from "../../../src/demo/clock.ts";
import { answerRequest, type Workshop } from "../harness/answer-inside.ts";
import { runCase } from "./case-run.ts";
import { type EnvoyCase, envoyCases, nameOf } from "./cases.ts";
import type { EnvoyProgram } from "./gateway-pod.ts";
import type { Played, PlayRequest } from "./play-request.ts";
import { createStage } from "./stage.ts";

/** Cases that wait side by side; each is an Envoy that starts and one that is gone. */
const LANES = 7;
const LANES_ON_NODE = 2;
const NODE_MANAGER = new URL("../../../src/manager/node-main.ts", import.meta.url).pathname;
const DAY_MS = 86_400_000;

await answerRequest(played);

async function played(request: PlayRequest, { processes, scratch: folder }: Workshop): Promise<Record<string, Played>> {
  const stage = await createStage(processes);
  const certificate = await writeCertificate(folder);
  const results: Record<string, Played> = {};
  const play = async (one: EnvoyCase) => {
    const envoy: EnvoyProgram = request.envoys[one.version] ?? { command: [], environment: {} };
    const managerProgram = one.manager === "native" ? [request.native] : managerOnNode(request.native);
    const parts = { stage, envoy, folder, certificate, managerProgram, http3: request.http3, grpcio: request.grpcio };
    const name = nameOf(one);
    results[name] = await runCase(one, parts).then(
      (result) => ({ result }),
      (error: Error) => ({ error: error.stack ?? error.message }),
    );
  };
  const cases = envoyCases(request.native !== "").filter(
    (one) => request.only.length === 0 || request.only.includes(nameOf(one)),
  );
  const hasNative = request.native !== "";
  const isHeavy = ({ scene }: EnvoyCase) => scene.heavy === true;
  // The longest first, so that no one waits for a single one in the end.
  const light = cases.filter((one) => !isHeavy(one)).sort((a, b) => length(b) - length(a));
  const lanes = hasNative ? LANES : LANES_ON_NODE;
  await Promise.all([lane(cases.filter(isHeavy), play), ...Array.from({ length: lanes }, () => lane(light, play))]);
  return results;
}

/**
 * Where there is a native build its client calls the hook: on a busy machine Node takes more than five seconds to start,
 * and the hook of one container alone is a restart's by then.
 */
function managerOnNode(native: string): readonly string[] {
  const onNode = [process.execPath, NODE_MANAGER];
  if (native === "") return onNode;
  return [
    "sh",
    "-c",
    `if [ "$1" = serve ]; then exec ${onNode.join(" ")} "$@"; else exec ${native} "$@"; fi`,
    "manager",
  ];
}

async function lane(cases: EnvoyCase[], play: (one: EnvoyCase) => Promise<void>): Promise<void> {
  for (let next = cases.shift(); next !== undefined; next = cases.shift()) {
    await play(next);
    // Namespaces and Envoys end before the next ones begin.
    await realClock.wait(100);
  }
}

function length({ scene }: EnvoyCase): number {
  if (scene.ends !== "deadline") return 0;
  return scene.timeoutMs ?? 60_000;
}

async function writeCertificate(folder: string): Promise<{ chain: string; key: string }> {
  const nowMs = Date.now();
  const validity = { fromMs: nowMs - DAY_MS, untilMs: nowMs + DAY_MS };
  const pair = await makeServerPair(await makeCaPair("scenes", validity), { dns: ["pod.test"] }, validity);
  const files = { chain: join(folder, "chain.pem"), key: join(folder, "key.pem") };
  writeFileSync(files.chain, pair.cert);
  writeFileSync(files.key, pair.key);
  return files;
}
