/** Creates Pods, also in server-side dry runs, and returns their stored form and the warnings. */
import type { KubernetesListObject, KubernetesObject, V1Pod } from "@kubernetes/client-node";
import type { Kubectl } from "./kubectl.ts";
import { MANAGER } from "./pod-log.ts";

export type CreateResult = {
  /** The Pods as they would be stored, in order. */
  readonly pods: readonly V1Pod[];
  /** kubectl's warnings, without the word `Warning`. */
  readonly warnings: readonly string[];
};

/** Runs a dry run. @throws with kubectl's output if a Pod is refused */
export async function dryRunCreate(kubectl: Kubectl, pods: readonly V1Pod[]): Promise<CreateResult> {
  const list: KubernetesListObject<KubernetesObject> = { apiVersion: "v1", kind: "List", items: [...pods] };
  return runCreate(kubectl, ["--dry-run=server"], JSON.stringify(list));
}

/** Creates a Pod. */
export async function createPod(kubectl: Kubectl, pod: V1Pod): Promise<CreateResult> {
  return runCreate(kubectl, [], JSON.stringify(pod));
}

async function runCreate(kubectl: Kubectl, flags: readonly string[], input: string): Promise<CreateResult> {
  const { status, output, stderr } = await kubectl.attempt(
    ["create", "--filename=-", "--output=json", ...flags],
    input,
  );
  if (status !== 0) throw new Error(`kubectl create ended with ${status}: ${stderr.trim()}`);
  return { pods: parsePods(output), warnings: warningsIn(stderr) };
}

/** Parses kubectl's JSON output: one Pod, a List of Pods, or several Pods one after the other. */
function parsePods(output: string): readonly V1Pod[] {
  return output
    .split(/(?<=^\})\n/m)
    .filter((text) => text.trim() !== "")
    .flatMap((text): readonly V1Pod[] => {
      const parsed: V1Pod | KubernetesListObject<V1Pod> = JSON.parse(text);
      return "items" in parsed ? parsed.items : [parsed];
    });
}

export function warningsIn(stderr: string): readonly string[] {
  return stderr.split("\n").flatMap((line) => (line.startsWith("Warning: ") ? [line.slice("Warning: ".length)] : []));
}

export function isInjected(pod: V1Pod): boolean {
  const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
  return containers.some(({ name }) => name === MANAGER);
}
