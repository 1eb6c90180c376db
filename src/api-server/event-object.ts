/**
 * A note as the Event the API server stores. Of the two APIs for the same objects the older one is written: it takes
 * count and times at creation, so `create` is the only right needed, and every tool shows ages; the newer one counts
 * repetitions only by later patches.
 *
 * @see https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
 */
import type { RawObject } from "../kubernetes/raw-json.ts";

type Happened = {
  readonly count: number;
  /** Wall clock, milliseconds. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** Makes the name unique: a few hexadecimal characters. */
  readonly suffix: string;
  /** This replica's name. */
  readonly instance: string;
  /** The part of the program that tells it, such as `lastcall.dev/webhook`. */
  readonly reporter: string;
};

/** A name has at most 253 characters, the suffix and its dot among them. */
const NAME_LIMIT = 230;

export function eventOf(note: Note, happened: Happened): RawObject {
  const { namespace, owner, type, reason, message } = note;
  const { apiVersion, ...object } = owner;
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { namespace, name: `${owner.name.slice(0, NAME_LIMIT).replace(/[.-]+$/, "")}.${happened.suffix}` },
    involvedObject: { ...(apiVersion === "" ? {} : { apiVersion }), ...object, namespace },
    type,
    reason,
    message,
    count: happened.count,
    firstTimestamp: wholeSeconds(happened.firstMs),
    lastTimestamp: wholeSeconds(happened.lastMs),
    source: { component: "lastcall", host: happened.instance },
    reportingComponent: happened.reporter,
    reportingInstance: happened.instance,
  };
}

export function eventPath(note: Note): string {
  return `/api/v1/namespaces/${encodeURIComponent(note.namespace)}/events`;
}

/** These times have no fractions. */
function wholeSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** The object an Event is about, as a reference names it. An empty `apiVersion` is left out of the Event. */
export type Owner = { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string };

export type Note = {
  readonly namespace: string;
  readonly owner: Owner;
  readonly type: "Normal" | "Warning";
  /** One word in the API's style, such as `NotInjected`. */
  readonly reason: string;
  /** One line of printable text, at most {@link NOTE_LIMIT} characters. */
  readonly message: string;
};

/** Longest message of an Event the API server takes is 1024 bytes. */
export const NOTE_LIMIT = 1_000;

/** Checks the form of a reference. Nodes are refused: an Event needs the namespace of its object. */
export function isOwner({ apiVersion, kind, name, uid }: Owner): boolean {
  return (
    /^[a-z0-9./-]{0,253}$/.test(apiVersion) &&
    /^[A-Za-z][A-Za-z0-9]{0,62}$/.test(kind) &&
    /^[a-z0-9][-a-z0-9.]{0,252}$/.test(name) &&
    /^[-0-9A-Za-z]{1,64}$/.test(uid) &&
    kind !== "Node"
  );
}
