/**
 * Builds core/v1 Events. events.k8s.io/v1 counts repetitions only through later patches; core/v1 takes count and times at
 * creation, so the permission to create is sufficient.
 *
 * @see https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
 */
import type { RawObject } from "../kubernetes/raw-json.ts";

type Occurrence = {
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly nameSuffix: string;
  readonly instance: string;
  readonly reporter: string;
};

/** Limit for the owner's name in an Event's name, which has at most 253 characters with the dot and the suffix. */
const NAME_LIMIT = 230;

export function toEventObject(spec: EventSpec, occurrence: Occurrence): RawObject {
  const { namespace, owner, type, reason, message } = spec;
  const { apiVersion, ...object } = owner;
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { namespace, name: `${owner.name.slice(0, NAME_LIMIT).replace(/[.-]+$/, "")}.${occurrence.nameSuffix}` },
    involvedObject: { ...(apiVersion === "" ? {} : { apiVersion }), ...object, namespace },
    type,
    reason,
    message,
    count: occurrence.count,
    firstTimestamp: formatWholeSeconds(occurrence.firstMs),
    lastTimestamp: formatWholeSeconds(occurrence.lastMs),
    source: { component: "lastcall", host: occurrence.instance },
    reportingComponent: occurrence.reporter,
    reportingInstance: occurrence.instance,
  };
}

export function eventPath(spec: EventSpec): string {
  return `/api/v1/namespaces/${encodeURIComponent(spec.namespace)}/events`;
}

/** Formats a `metav1.Time`, which does not have fractions of a second. */
function formatWholeSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** The involved object of an Event. An empty `apiVersion` is omitted. */
export type Owner = { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string };

export type EventSpec = {
  readonly namespace: string;
  readonly owner: Owner;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  /** One line of printable text, at most {@link MESSAGE_LIMIT} characters. */
  readonly message: string;
};

/** In characters; API servers reject messages of more than 1024 bytes. */
export const MESSAGE_LIMIT = 1_000;

/** Whether an Event can refer to the owner. Not to a Node, because an Event has to be in the namespace of its object. */
export function isValidOwner({ apiVersion, kind, name, uid }: Owner): boolean {
  return (
    /^[a-z0-9./-]{0,253}$/.test(apiVersion) &&
    /^[A-Za-z][A-Za-z0-9]{0,62}$/.test(kind) &&
    /^[a-z0-9][-a-z0-9.]{0,252}$/.test(name) &&
    /^[-0-9A-Za-z]{1,64}$/.test(uid) &&
    kind !== "Node"
  );
}
