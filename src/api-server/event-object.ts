/**
 * A note as the Event the API server stores. Of the two APIs for the same objects the older one is written: it takes
 * count and times at creation, so `create` is the only right needed, and every tool shows ages; the newer one counts
 * repetitions only by later patches.
 *
 * @see https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
 */
import type { RawObject } from "../kubernetes/raw-json.ts";
import type { Note } from "./event-note.ts";

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
