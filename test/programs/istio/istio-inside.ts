/** Process 1 of the namespaces: ends all Pods of the mesh side by side, and writes what came of each. */
import { readFileSync, writeFileSync } from "node:fs";
import type { PlayRequest } from "../envoy/play-request.ts";
import { createStage, newProcesses } from "../envoy/stage.ts";
import { ISTIO_CASES, type IstioCase, istioName } from "./istio-case.ts";
import type { IstioResult } from "./istio-result.ts";
import { runIstio } from "./istio-run.ts";

export type IstioPlayed = Readonly<Record<string, { readonly result: IstioResult } | { readonly error: string }>>;

/** Pods at a time. */
const LANES = 4;
const NODE_MANAGER = new URL("../../../src/manager/node-main.ts", import.meta.url).pathname;

const [requestFile = "", resultFile = "", folder = ""] = process.argv.slice(2);
const processes = newProcesses();
// The leash of whoever started this.
const leave = () => process.exit(130);
process.stdin.once("end", leave).once("error", leave).resume();

try {
  writeFileSync(resultFile, JSON.stringify(await played(JSON.parse(readFileSync(requestFile, "utf8")))));
  process.exit(0);
} catch (error) {
  process.stderr.write(`${(error as Error).stack}\n`);
  process.exit(1);
}

async function played(request: PlayRequest): Promise<IstioPlayed> {
  const stage = await createStage(processes);
  const native = request.native !== "";
  const results: Record<string, IstioPlayed[string]> = {};
  const waiting = [...ISTIO_CASES];
  const play = async (one: IstioCase) => {
    const parts = {
      stage,
      envoy: request.envoys[one.version] ?? { command: [], environment: {} },
      manager: native ? ("native" as const) : ("node" as const),
      managerProgram: native ? [request.native] : [process.execPath, NODE_MANAGER],
      folder,
    };
    results[istioName(one)] = await runIstio(one, parts).then(
      (result) => ({ result }),
      (error: Error) => ({ error: error.stack ?? error.message }),
    );
  };
  const lane = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await play(one);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return results;
}
