/**
 * What injection changed, so that a second pass and uninject can take it back: the content of LASTCALL_ORIGINAL.
 *
 * The manager reads `chain` and nothing else of it.
 */
import { containersOf, nameOf } from "../../kubernetes/pod.ts";
import { isRawObject, objectAt, type RawObject, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import { type ChainedHook, isChainedHook } from "../hooks/own-hooks.ts";

/** Something that was there but empty: what absent would not give back. */
export type EmptyParent = null | Readonly<Record<string, never>> | readonly never[];

export type OriginalRecord = {
  /** `terminationGracePeriodSeconds`; null when the Pod had none. */
  readonly grace: number | null;
  /** `app/liveness`, `app/startup`: probes that got the Pod's original grace period. */
  readonly probes: readonly string[];
  /** Names that were added. */
  readonly pullSecrets: readonly string[];
  /** Replaced handlers by container. */
  readonly preStop: Readonly<Record<string, unknown>>;
  readonly chain: Readonly<Record<string, ChainedHook>>;
  /** Annotations set or changed; null when there was none. */
  readonly annotations: Readonly<Record<string, string | null>>;
  /** By `metadata`, `annotations`, `initContainers`, `imagePullSecrets`, `volumes`, `grace`, `lifecycle/<container>`, `env/<container>`, `volumeMounts/<container>`, `<container>/liveness`. */
  readonly blank: Readonly<Record<string, EmptyParent>>;
};

/** Longest record, in UTF-8 bytes. It sits in every Pod and in every watch of it. */
const RECORD_LIMIT_BYTES = 4_096;

/**
 * The same text for the same record, without the parts that hold nothing. Kubelet replaces `$(NAME)` in variables, so
 * no dollar sign is written as itself.
 */
export function formatRecord(record: OriginalRecord): string {
  const { grace, probes, pullSecrets, preStop, chain, annotations, blank } = record;
  const text = JSON.stringify({
    grace,
    ...(probes.length > 0 ? { probes } : {}),
    ...(pullSecrets.length > 0 ? { pullSecrets } : {}),
    ...(isEmpty(preStop) ? {} : { preStop }),
    ...(isEmpty(chain) ? {} : { chain }),
    ...(isEmpty(annotations) ? {} : { annotations }),
    ...(isEmpty(blank) ? {} : { blank }),
  });
  return text.replaceAll("$", "\\u0024");
}

/** Whether the text of a record stays within its limit. */
export function fitsLimit(text: string): boolean {
  // A UTF-16 unit takes three bytes of UTF-8 at most, so a short text need not be encoded.
  return text.length * 3 <= RECORD_LIMIT_BYTES || new TextEncoder().encode(text).length <= RECORD_LIMIT_BYTES;
}

/** Linux gives no program a longer variable, in bytes, so no injection has written it. */
const VARIABLE_LIMIT = 131_072;

/** `undefined` when the text is no record; parts of it that make no sense are dropped. */
export function parseRecord(text: string): OriginalRecord | undefined {
  if (text.length >= VARIABLE_LIMIT) return undefined;
  try {
    return readRecord(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export function readRecord(value: unknown): OriginalRecord | undefined {
  if (!isRawObject(value)) return undefined;
  const grace = wholeNumberAt(value, "grace") ?? null;
  if (grace !== null && grace < 0) return undefined;
  return {
    grace,
    probes: textsIn(value["probes"]),
    pullSecrets: textsIn(value["pullSecrets"]),
    preStop: entriesWhere(objectAt(value, "preStop"), (handler): handler is unknown => isHandler(handler)),
    chain: entriesWhere(objectAt(value, "chain"), isChainedHook),
    annotations: entriesWhere(objectAt(value, "annotations"), isTextOrNull),
    blank: entriesWhere(objectAt(value, "blank"), isEmptyParent),
  };
}

function textsIn(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.filter((entry) => typeof entry === "string") : [];
}

function isEmpty(record: RawObject): boolean {
  return Object.keys(record).length === 0;
}

function entriesWhere<T>(
  record: RawObject | undefined,
  fits: (value: unknown, key: string) => value is T,
): Record<string, T> {
  const entries = Object.entries(record ?? {}).flatMap(([key, value]) =>
    fits(value, key) ? [[key, value] as const] : [],
  );
  return Object.fromEntries(entries);
}

function isHandler(value: unknown): boolean {
  return value === null || isRawObject(value);
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}

/** Of the kind that may stand there: put back, it must not make a Pod the API server refuses. */
function isEmptyParent(value: unknown, name: string): value is EmptyParent {
  if (value === null) return true;
  if (
    ["containers", "imagePullSecrets", "initContainers", "volumes"].includes(name) ||
    /^(env|volumeMounts)\//.test(name)
  )
    return Array.isArray(value) && value.length === 0;
  const holdsObject = name === "metadata" || name === "annotations" || name.startsWith("lifecycle/");
  return holdsObject && isRawObject(value) && isEmpty(value);
}

/** By container; null where `preStop: null` was written. Containers without the key are left out. */
export function replacedHandlers(pod: RawObject, containers: readonly string[]): Readonly<Record<string, unknown>> {
  const held = new Set(containers);
  const entries = containersOf(pod).flatMap((container) => {
    const lifecycle = objectAt(container, "lifecycle");
    if (lifecycle === undefined || !held.has(nameOf(container))) return [];
    return Object.hasOwn(lifecycle, "preStop") ? [[nameOf(container), lifecycle["preStop"]] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** What the annotations said before; null where there was none. */
export function replacedAnnotations(
  annotations: RawObject,
  keys: readonly string[],
): Readonly<Record<string, string | null>> {
  const entries = keys.map((key) => {
    const old = annotations[key];
    return [key, typeof old === "string" ? old : null] as const;
  });
  return Object.fromEntries(entries);
}
