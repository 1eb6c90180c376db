/** What the API server would make of Pods, and what it says about them: server-side dry runs. */
import type { KubernetesListObject, KubernetesObject, V1Pod } from "@kubernetes/client-node";
import type { Kubectl } from "./kubectl.ts";
import { MANAGER } from "./pod-log.ts";

export type Answer = {
  /** As they would be stored, in the order asked. */
  readonly pods: readonly V1Pod[];
  /** What kubectl shows the one who creates them, without the word `Warning`. */
  readonly warnings: readonly string[];
};

/** Nothing is kept. @throws with kubectl's words when one of them is refused */
export async function wouldCreate(kubectl: Kubectl, pods: readonly V1Pod[]): Promise<Answer> {
  const list: KubernetesListObject<KubernetesObject> = { apiVersion: "v1", kind: "List", items: [...pods] };
  return created(kubectl, ["--dry-run=server"], JSON.stringify(list));
}

/** Creates one for good. */
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

/** One object, a list, or objects one after the other. */
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
