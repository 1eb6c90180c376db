/** Runs, as PID 1 of a new PID namespace, all cases with Istio's sidecar concurrently. */
import { NODE_MANAGER, type RunRequest, runCases } from "../envoy/run-cases.ts";
import { createTestbed } from "../envoy/testbed.ts";
import { runScript } from "../harness/namespace-script.ts";
import { ISTIO_CASES, istioCaseName } from "./istio-case.ts";
import { runIstio } from "./istio-run.ts";

const CONCURRENT_CASES = 4;

await runScript(async ({ envoys, nativeManagerPath: nativePath }: RunRequest, { processes, scratch: folder }) => {
  const testbed = await createTestbed(processes);
  const manager =
    nativePath === ""
      ? { manager: "node" as const, managerProgram: [process.execPath, NODE_MANAGER] }
      : { manager: "native" as const, managerProgram: [nativePath] };
  return runCases([{ cases: ISTIO_CASES, concurrency: CONCURRENT_CASES }], istioCaseName, (istioCase) =>
    runIstio(istioCase, {
      testbed,
      folder,
      ...manager,
      envoy: envoys[istioCase.version] ?? { command: [], environment: {} },
    }),
  );
});
