/** Process 1 of the namespaces: plays all cases, several that mostly wait beside one that works, and writes what came. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeCaPair, makeServerPair } from "../../../src/authority/signing.ts";
import { answerRequest } from "../harness/answer-inside.ts";
import { runCase } from "./case-run.ts";
import { type EnvoyCase, envoyCases, nameOf } from "./cases.ts";
import { NODE_MANAGER, type PlayRequest, playAll } from "./play-lanes.ts";
import type { Peers } from "./scene.ts";
import { createStage } from "./stage.ts";

/** Cases that wait side by side; each is an Envoy that starts and one that is gone. */
const LANES = 7;
const LANES_ON_NODE = 2;
const DAY_MS = 86_400_000;

await answerRequest(async (request: PlayRequest & Peers, { processes, scratch: folder }) => {
  const { native, envoys, http3, grpcio } = request;
  const parts = {
    stage: await createStage(processes),
    folder,
    certificate: await writeCertificate(folder),
    http3,
    grpcio,
  };
  const cases = envoyCases(native !== "");
  const isHeavy = ({ scene }: EnvoyCase) => scene.heavy === true;
  const queues = [
    { cases: cases.filter(isHeavy), lanes: 1 },
    // The longest first, so that no one waits for a single one in the end.
    {
      cases: cases.filter((one) => !isHeavy(one)).sort((a, b) => length(b) - length(a)),
      lanes: native === "" ? LANES_ON_NODE : LANES,
    },
  ];
  return playAll(queues, nameOf, (one) =>
    runCase(one, {
      ...parts,
      envoy: envoys[one.version] ?? { command: [], environment: {} },
      managerProgram: one.manager === "native" ? [native] : managerOnNode(native),
    }),
  );
});

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
