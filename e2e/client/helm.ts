/** Runs helm against the suite's cluster, as users do. */
import { attempt } from "../host/run.ts";
import type { Suite } from "./suite.ts";

/** Returns helm's output. @throws with helm's error */
export async function runHelm(suite: Suite, namespace: string, args: readonly string[], input = ""): Promise<string> {
  const contextFlags = suite.context === undefined ? [] : [`--kube-context=${suite.context}`];
  const clusterFlags = [`--kubeconfig=${suite.kubeconfig}`, ...contextFlags, `--namespace=${namespace}`];
  const { status, output, stderr } = await attempt(suite.helm, [...args, ...clusterFlags], { input });
  if (status !== 0) throw new Error(`helm ${args.join(" ")} ended with ${status}: ${stderr.trim()}`);
  return output;
}
