/** Process 1 of the namespaces: ends all Pods of the mesh side by side, and writes what came of each. */
import type { PlayRequest } from "../envoy/play-request.ts";
import { createStage } from "../envoy/stage.ts";
import { answerRequest, type Workshop } from "../harness/answer-inside.ts";
import { ISTIO_CASES, type IstioCase, istioName } from "./istio-case.ts";
import type { IstioResult } from "./istio-result.ts";
import { runIstio } from "./istio-run.ts";

export type IstioPlayed = Readonly<Record<string, { readonly result: IstioResult } | { readonly error: string }>>;

/** Pods at a time. */
const LANES = 4;
const NODE_MANAGER = new URL("../../../src/manager/node-main.ts", import.meta.url).pathname;

await answerRequest(played);

async function played(request: PlayRequest, { processes, scratch: folder }: Workshop): Promise<IstioPlayed> {
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
