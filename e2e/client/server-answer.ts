/** Creates Pods, also in server-side dry runs, and returns their stored form and the warnings. */
import type { KubernetesListObject, KubernetesObject, V1Pod } from "@kubernetes/client-node";
import type { Kubectl } from "./kubectl.ts";
import { MANAGER } from "./pod-log.ts";

export type Answer = {
  /** The Pods as they would be stored, in order. */
  readonly pods: readonly V1Pod[];
  /** kubectl's warnings, without the word `Warning`. */
  readonly warnings: readonly string[];
};

/** Runs a dry run. @throws with kubectl's output if a Pod is refused */
export async function wouldCreate(kubectl: Kubectl, pods: readonly V1Pod[]): Promise<Answer> {
  const list: KubernetesListObject<KubernetesObject> = { apiVersion: "v1", kind: "List", items: [...pods] };
  return created(kubectl, ["--dry-run=server"], JSON.stringify(list));
}

/** Creates a Pod. */
export async function create(kubectl: Kubectl, pod: V1Pod): Promise<Answer> {
  return created(kubectl, [], JSON.stringify(pod));
}

async function created(kubectl: Kubectl, flags: readonly string[], input: string): Promise<Answer> {
  const { status, output, complaint } = await kubectl.attempt(
    ["create", "--filename=-", "--output=json", ...flags],
    input,
  );
  if (status !== 0) throw new Error(`kubectl create ended with ${status}: ${complaint.trim()}`);
  return { pods: documents(output), warnings: warningsIn(complaint) };
}

/** Reads one object, a list, or several objects. */
function documents(output: string): readonly V1Pod[] {
  return output
    .split(/(?<=^\})\n/m)
    .filter((text) => text.trim() !== "")
    .flatMap((text): readonly V1Pod[] => {
      const read: V1Pod | KubernetesListObject<V1Pod> = JSON.parse(text);
      return "items" in read ? read.items : [read];
    });
}

export function warningsIn(complaint: string): readonly string[] {
  return complaint
    .split("\n")
    .flatMap((line) => (line.startsWith("Warning: ") ? [line.slice("Warning: ".length)] : []));
}

export function isInjected(pod: V1Pod): boolean {
  const all = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
  return all.some(({ name }) => name === MANAGER);
}
