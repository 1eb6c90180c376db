/** Process 1 of the namespaces: runs all cases, several that mostly wait beside one heavy one. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeCaPair, makeServerPair } from "../../../src/authority/signing.ts";
import { runScript } from "../harness/namespace-script.ts";
import { type EnvoyCase, envoyCases, nameOf } from "./envoy-cases.ts";
import { runEnvoy } from "./envoy-run.ts";
import type { Peers } from "./envoy-scenario.ts";
import { NODE_MANAGER, type RunRequest, runAll } from "./run-lanes.ts";
import { createTestbed } from "./testbed.ts";

const LANES = 7;
const LANES_ON_NODE = 2;
const DAY_MS = 86_400_000;

await runScript(async (request: RunRequest & Peers, { processes, scratch: folder }) => {
  const { native, envoys, http3, grpcio } = request;
  const parts = {
    testbed: await createTestbed(processes),
    folder,
    certificate: await writeCertificate(folder),
    http3,
    grpcio,
  };
  const cases = envoyCases(native !== "");
  const isHeavy = ({ scenario }: EnvoyCase) => scenario.heavy === true;
  const queues = [
    { cases: cases.filter(isHeavy), lanes: 1 },
    {
      cases: cases.filter((one) => !isHeavy(one)).sort((a, b) => length(b) - length(a)),
      lanes: native === "" ? LANES_ON_NODE : LANES,
    },
  ];
  return runAll(queues, nameOf, (one) =>
    runEnvoy(one, {
      ...parts,
      envoy: envoys[one.version] ?? { command: [], environment: {} },
      managerProgram: one.manager === "native" ? [native] : managerOnNode(native),
    }),
  );
});

/**
 * Calls hooks with the native build where there is one: Node may take more than five seconds to start on a busy machine,
 * and after that time the manager takes the hook of a single container for its restart.
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

function length({ scenario }: EnvoyCase): number {
  if (scenario.ends !== "deadline") return 0;
  return scenario.timeoutMs ?? 60_000;
}

async function writeCertificate(folder: string): Promise<{ chain: string; key: string }> {
  const nowMs = Date.now();
  const validity = { fromMs: nowMs - DAY_MS, untilMs: nowMs + DAY_MS };
  const pair = await makeServerPair(await makeCaPair("scenarios", validity), { dns: ["pod.test"] }, validity);
  const files = { chain: join(folder, "chain.pem"), key: join(folder, "key.pem") };
  writeFileSync(files.chain, pair.cert);
  writeFileSync(files.key, pair.key);
  return files;
}
