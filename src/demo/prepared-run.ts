/** Selects the Deployment of a run and validates it before anything starts. */
import { fileURLToPath } from "node:url";
import type { PodNetwork } from "./network/pod-network.ts";
import { type DemoOptions, drainAnnotations } from "./options.ts";
import { replicasOf, SAMPLE_DRIVER, sampleDeployment, servicePort, withAnnotations } from "./rollout/deployment.ts";
import { readDeployment, startProblems, svgProblems, thisMachine } from "./rollout/own-deployment.ts";

const SAMPLE_APP = fileURLToPath(new URL("./sample-app.ts", import.meta.url));

export type PreparedRun = {
  readonly options: DemoOptions;
  readonly deployment: object;
  readonly replicas: number;
  readonly port: number;
  /** Variables that an image would set; containers do not inherit other variables of the shell. */
  readonly imageEnvironment: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
};

export async function prepareRun(
  options: DemoOptions,
  network: PodNetwork,
  imageEnvironment: PreparedRun["imageEnvironment"],
): Promise<PreparedRun> {
  const { deployment, problems } =
    options.file === ""
      ? { deployment: createSample(options, network), problems: [] }
      : await readDeployment(options.file);
  const machine = thisMachine(imageEnvironment["PATH"] ?? "");
  const machineProblems = problems.length > 0 ? [] : startProblems(deployment, machine);
  return {
    options,
    deployment: withAnnotations(deployment, drainAnnotations(options)),
    replicas: replicasOf(deployment),
    port: servicePort(deployment),
    imageEnvironment,
    problems: [...problems, ...machineProblems, ...svgProblems(options.svg)],
  };
}

function createSample(options: DemoOptions, network: PodNetwork): object {
  const sample = sampleDeployment({
    command: [process.execPath, SAMPLE_APP, ...(options.shutdown === "graceful" ? ["graceful"] : [])],
    listensOnPodAddress: network.kind === "loopback",
    replicas: options.replicas,
  });
  return withAnnotations(sample, {
    ...(options.driver === "http" ? SAMPLE_DRIVER : {}),
    ...(options.shutdown === "graceful" ? { "lastcall.dev/shutdown": "graceful" } : {}),
  });
}
