/** Runs all cases as PID 1 of a new PID namespace: heavy cases one after the other, light cases concurrently. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeCaPair, makeServerPair } from "../../../src/authority/signing.ts";
import { runScript } from "../harness/namespace-script.ts";
import { caseName, type EnvoyCase, envoyCases } from "./envoy-cases.ts";
import { runEnvoy } from "./envoy-run.ts";
import type { Peers } from "./envoy-scenario.ts";
import { NODE_MANAGER, type RunRequest, runCases } from "./run-cases.ts";
import { createTestbed } from "./testbed.ts";

const CONCURRENT_CASES = 7;
const CONCURRENT_CASES_ON_NODE = 2;
const DAY_MS = 86_400_000;

await runScript(async (request: RunRequest & Peers, { processes, scratch: folder }) => {
  const { nativeManagerPath: nativePath, envoys, http3, grpcio } = request;
  const caseParts = {
    testbed: await createTestbed(processes),
    folder,
    certificate: await writeCertificate(folder),
    http3,
    grpcio,
  };
  const cases = envoyCases(nativePath !== "");
  const isHeavy = ({ scenario }: EnvoyCase) => scenario.heavy === true;
  const queues = [
    { cases: cases.filter(isHeavy), concurrency: 1 },
    {
      cases: cases.filter((envoyCase) => !isHeavy(envoyCase)).sort((a, b) => expectedMs(b) - expectedMs(a)),
      concurrency: nativePath === "" ? CONCURRENT_CASES_ON_NODE : CONCURRENT_CASES,
    },
  ];
  return runCases(queues, caseName, (envoyCase) =>
    runEnvoy(envoyCase, {
      ...caseParts,
      envoy: envoys[envoyCase.version] ?? { command: [], environment: {} },
      managerProgram: envoyCase.manager === "native" ? [nativePath] : managerOnNode(nativePath),
    }),
  );
});

/**
 * Returns the command of a manager whose server runs on Node. The manager's own preStop hook runs the native build if this
 * host has it: on a busy machine Node may need more than five seconds to start, and the manager treats such a late hook as the
 * restart of one container.
 */
function managerOnNode(nativePath: string): readonly string[] {
  const nodeCommand = [process.execPath, NODE_MANAGER];
  if (nativePath === "") return nodeCommand;
  return [
    "sh",
    "-c",
    `if [ "$1" = serve ]; then exec ${nodeCommand.join(" ")} "$@"; else exec ${nativePath} "$@"; fi`,
    "manager",
  ];
}

function expectedMs({ scenario }: EnvoyCase): number {
  if (scenario.ending !== "deadline") return 0;
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
