/** Chooses the Deployment of a run, and finds its problems before anything starts. */
import { fileURLToPath } from "node:url";
import type { PodNetwork } from "./network/pod-network.ts";
import { type DemoOptions, drainAnnotations } from "./options.ts";
import { annotated, replicasOf, SAMPLE_DRIVER, sampleDeployment, servicePort } from "./rollout/deployment.ts";
import { pictureProblems, readDeployment, thisMachine, unrunnable } from "./rollout/own-deployment.ts";

const SAMPLE_APP = fileURLToPath(new URL("./sample-app.ts", import.meta.url));

export type PreparedRun = {
  readonly options: DemoOptions;
  readonly deployment: object;
  readonly replicas: number;
  readonly port: number;
  /** Variables that an image would set; containers get nothing else of this shell. */
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
      ? { deployment: sampleFor(options, network), problems: [] }
      : await readDeployment(options.file);
  const unrunnables = problems.length > 0 ? [] : unrunnable(deployment, thisMachine(imageEnvironment["PATH"] ?? ""));
  return {
    options,
    deployment: annotated(deployment, drainAnnotations(options)),
    replicas: replicasOf(deployment),
    port: servicePort(deployment),
    imageEnvironment,
    problems: [...problems, ...unrunnables, ...pictureProblems(options.svg)],
  };
}

function sampleFor(options: DemoOptions, network: PodNetwork): object {
  const sample = sampleDeployment({
    command: [process.execPath, SAMPLE_APP],
    listensOnPodAddress: network.kind === "loopback",
    replicas: options.replicas,
  });
  return options.driver === "http" ? annotated(sample, SAMPLE_DRIVER) : sample;
}
