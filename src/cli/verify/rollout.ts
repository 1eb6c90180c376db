/** Reads a workload, its revisions and its Pods from the API server. */
import type { SendRequest } from "../../api-server/api-request.ts";
import { MANAGER_CONTAINER } from "../../contract/manager-environment.ts";
import { isRawObject, objectAt, objectsAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { getJson } from "../get-json.ts";
import { newestCreationMs, objectsOwnedBy, podOwners, podsOf, rolloutProgress, type Workload } from "./workload.ts";

const READ_LIMIT_MS = 10_000;

/** Thrown to end the command; each problem has a place, and a remedy if there is one. */
export class Unverifiable extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("; "));
    this.problems = problems;
  }
}

export type Rollout = {
  /** Empty if the rollout is complete and no Pod is terminating. */
  readonly progress: string;
  readonly owners: ReadonlySet<string>;
  readonly pods: readonly RawObject[];
  readonly terminating: readonly RawObject[];
  readonly newestRevisionMs: number | undefined;
};

type Query = { readonly workload: Workload; readonly namespace: string; readonly signal: AbortSignal };

/** @throws Unverifiable if an object cannot be read, or if the namespace has neither Pods nor ReplicaSets of the workload */
export async function readRollout(send: SendRequest, { workload, namespace, signal }: Query): Promise<Rollout> {
  const appsPath = `/apis/apps/v1/namespaces/${namespace}`;
  const read = async (path: string, title: string): Promise<RawObject> => {
    const response = await getJson(send, { path, limitMs: READ_LIMIT_MS, signal });
    if (!response.ok) throw new Unverifiable([`cannot read ${title} in namespace ${namespace}: ${response.message}`]);
    return isRawObject(response.value) ? response.value : {};
  };
  const list = async (path: string, title: string) => objectsAt(await read(path, title), "items");
  const { resource, revisions: revisionKind } = workload;
  const workloadObject =
    resource === undefined ? undefined : await read(`${appsPath}/${resource}/${workload.name}`, workload.text);
  const revisions = revisionKind === undefined ? [] : await list(`${appsPath}/${revisionKind}`, revisionKind);
  const pods = await list(`/api/v1/namespaces/${namespace}/pods`, "Pods");
  const owners = podOwners(workload, revisionKind === "replicasets" ? revisions : []);
  const ownedRevisions = objectsOwnedBy(workload, revisions);
  const workloadPods = podsOf(owners, pods);
  const terminating = workloadPods.filter(isTerminating);
  if (workloadObject === undefined && ownedRevisions.length === 0 && workloadPods.length === 0)
    throw new Unverifiable([`namespace ${namespace} has no Pods or ReplicaSets of ${workload.text}`]);
  return {
    progress: (workloadObject === undefined ? "" : rolloutProgress(workloadObject)) || terminatingText(terminating),
    owners,
    pods: workloadPods,
    terminating,
    newestRevisionMs: newestCreationMs(ownedRevisions),
  };
}

/** @throws Unverifiable if a Pod has no manager, and therefore will not report */
export function assertInjected({ pods }: Rollout, workload: Workload): void {
  const injectedCount = pods.filter(isInjected).length;
  if (injectedCount === pods.length) return;
  const notInjectedText = `${pods.length - injectedCount} of ${pods.length} Pods of ${workload.text} are not injected`;
  throw new Unverifiable([
    `${notInjectedText}, so the next rollout cannot be verified; run lastcall explain for the reason`,
  ]);
}

function isInjected(pod: RawObject): boolean {
  const spec = objectAt(pod, "spec");
  const containers = [...objectsAt(spec, "initContainers"), ...objectsAt(spec, "containers")];
  return containers.some((container) => textAt(container, "name") === MANAGER_CONTAINER);
}

function terminatingText(pods: readonly RawObject[]): string {
  if (pods.length === 0) return "";
  return pods.length === 1 ? "1 Pod is terminating" : `${pods.length} Pods are terminating`;
}

function isTerminating(pod: RawObject): boolean {
  return textAt(objectAt(pod, "metadata"), "deletionTimestamp") !== undefined;
}
