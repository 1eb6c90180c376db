/** Process 1 of the namespaces: ends all Pods of the mesh side by side, and writes what came of each. */
import { NODE_MANAGER, type PlayRequest, playAll } from "../envoy/play-lanes.ts";
import { createStage } from "../envoy/stage.ts";
import { answerRequest } from "../harness/answer-inside.ts";
import { ISTIO_CASES, istioName } from "./istio-case.ts";
import { runIstio } from "./istio-run.ts";

const LANES = 4;

await answerRequest(async ({ envoys, native }: PlayRequest, { processes, scratch: folder }) => {
  const stage = await createStage(processes);
  const manager =
    native === ""
      ? { manager: "node" as const, managerProgram: [process.execPath, NODE_MANAGER] }
      : { manager: "native" as const, managerProgram: [native] };
  return playAll([{ cases: ISTIO_CASES, lanes: LANES }], istioName, (one) =>
    runIstio(one, { stage, folder, ...manager, envoy: envoys[one.version] ?? { command: [], environment: {} } }),
  );
});
