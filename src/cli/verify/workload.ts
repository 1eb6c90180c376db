/** Reads the state of a workload from API objects: the owners of its Pods, and whether a rollout is in progress. Pure. */

import { objectAt, objectsAt, type RawObject, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import { findNearest } from "../../policy/nearest.ts";
import { quote } from "../../policy/quote.ts";

export type WorkloadKind = {
  readonly kind: string;
  readonly resource: string;
  readonly shortName: string;
  /** Kind of the objects that record the revisions; `undefined` without revisions. */
  readonly revisions: "replicasets" | "controllerrevisions" | undefined;
};

/** Kinds whose status this command reads. The Pods of other kinds, such as Argo's Rollout, are found through ReplicaSets. */
const KINDS: readonly WorkloadKind[] = [
  { kind: "Deployment", resource: "deployments", shortName: "deploy", revisions: "replicasets" },
  { kind: "StatefulSet", resource: "statefulsets", shortName: "sts", revisions: "controllerrevisions" },
  { kind: "DaemonSet", resource: "daemonsets", shortName: "ds", revisions: "controllerrevisions" },
  { kind: "ReplicaSet", resource: "replicasets", shortName: "rs", revisions: undefined },
];

export type Workload = {
  /** As the user wrote it. */
  readonly text: string;
  readonly kind: string;
  readonly name: string;
  /** `undefined` for a kind whose status this command cannot read. */
  readonly resource: string | undefined;
  readonly revisions: WorkloadKind["revisions"];
};

type WorkloadReading =
  | { readonly ok: true; readonly workload: Workload }
  | { readonly ok: false; readonly message: string };

const NAME_PATTERN = /^[a-z0-9][-a-z0-9.]{0,252}$/;
const OTHER_KIND_PATTERN = /^[A-Z][A-Za-z]{0,62}$/;

/** Accepts `deployment/web`, `deploy/web`, `Deployment/web`, and a kind such as `Rollout/web`. */
export function parseWorkload(text: string): WorkloadReading {
  const [type = "", name = "", ...others] = text.split("/");
  const kind = KINDS.find(
    (candidate) =>
      [candidate.resource, candidate.shortName].includes(type.toLowerCase()) ||
      candidate.kind.toLowerCase() === type.toLowerCase(),
  );
  if (others.length > 0 || !NAME_PATTERN.test(name))
    return { ok: false, message: `${quote(text)} is not TYPE/NAME, such as deployment/web` };
  if (kind !== undefined)
    return { ok: true, workload: { text, kind: kind.kind, name, resource: kind.resource, revisions: kind.revisions } };
  if (OTHER_KIND_PATTERN.test(type))
    return { ok: true, workload: { text, kind: type, name, resource: undefined, revisions: "replicasets" } };
  const types = KINDS.flatMap((candidate) => [candidate.kind.toLowerCase(), candidate.shortName]);
  const suggestion = findNearest(type.toLowerCase(), types);
  const remedy =
    suggestion === undefined
      ? `use one of ${types.join(", ")}, or a kind such as Rollout`
      : `did you mean ${quote(suggestion)}?`;
  return { ok: false, message: `${quote(type)} is not a type of workload; ${remedy}` };
}

/** @param objects ReplicaSets or ControllerRevisions of the namespace */
export function objectsOwnedBy({ kind, name }: Workload, objects: readonly RawObject[]): readonly RawObject[] {
  return objects.filter((object) => isOwned(object, (owner) => owner === `${kind}/${name}`));
}

/** `Kind/name` of every owner whose Pods belong to the workload. */
export function podOwners(workload: Workload, replicaSets: readonly RawObject[]): ReadonlySet<string> {
  const names = objectsOwnedBy(workload, replicaSets).map((object) => `ReplicaSet/${nameOf(object)}`);
  return new Set([`${workload.kind}/${workload.name}`, ...names]);
}

export function podsOf(owners: ReadonlySet<string>, pods: readonly RawObject[]): readonly RawObject[] {
  return pods.filter((pod) => isOwned(pod, (owner) => owners.has(owner)));
}

function isOwned(object: RawObject, matches: (owner: string) => boolean): boolean {
  return objectsAt(objectAt(object, "metadata"), "ownerReferences").some((reference) =>
    matches(`${textAt(reference, "kind")}/${textAt(reference, "name")}`),
  );
}

export function nameOf(object: RawObject): string {
  return textAt(objectAt(object, "metadata"), "name") ?? "";
}

export function uidOf(object: RawObject): string {
  return textAt(objectAt(object, "metadata"), "uid") ?? "";
}

/** Creation time of the newest revision, in milliseconds; `undefined` without revisions. */
export function newestCreationMs(revisions: readonly RawObject[]): number | undefined {
  const creationTimes = revisions
    .map((object) => Date.parse(textAt(objectAt(object, "metadata"), "creationTimestamp") ?? ""))
    .filter((timeMs) => !Number.isNaN(timeMs));
  return creationTimes.length === 0 ? undefined : Math.max(...creationTimes);
}

/** @returns what the rollout waits for; an empty text if it is complete */
export function rolloutProgress(object: RawObject): string {
  const status = objectAt(object, "status");
  const spec = objectAt(object, "spec");
  const count = (key: string): number => wholeNumberAt(status, key) ?? 0;
  const generation = wholeNumberAt(objectAt(object, "metadata"), "generation") ?? 0;
  if (count("observedGeneration") < generation) return "the workload's controller has not observed the latest change";
  const isDaemonSet = wholeNumberAt(status, "desiredNumberScheduled") !== undefined;
  const desiredCount = isDaemonSet ? count("desiredNumberScheduled") : (wholeNumberAt(spec, "replicas") ?? 1);
  const updated = isDaemonSet ? count("updatedNumberScheduled") : updatedCount(object);
  const availableCount = isDaemonSet ? count("numberAvailable") : count("availableReplicas");
  const requiredCount = desiredCount - partitionOf(spec);
  if (updated < requiredCount) return `${updated} of ${requiredCount} Pods are updated`;
  if (!isDaemonSet && count("replicas") > desiredCount) return `${count("replicas") - desiredCount} old Pods are left`;
  return availableCount < desiredCount ? `${availableCount} of ${desiredCount} Pods are available` : "";
}

/** A ReplicaSet has no count of updated Pods, because it never updates a Pod. */
function updatedCount(object: RawObject): number {
  const status = objectAt(object, "status");
  return wholeNumberAt(status, textAt(object, "kind") === "ReplicaSet" ? "replicas" : "updatedReplicas") ?? 0;
}

function partitionOf(spec: RawObject | undefined): number {
  const rollingUpdate = objectAt(objectAt(spec, "updateStrategy"), "rollingUpdate");
  return wholeNumberAt(rollingUpdate, "partition") ?? 0;
}
