/**
 * Formats and parses the record of original values in LASTCALL_ORIGINAL, with which later admissions and `uninject` revert an
 * injection. The manager reads only `chain`.
 */
import { containersOf, nameOf } from "../../kubernetes/pod.ts";
import { isRawObject, objectAt, type RawObject, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import { type ChainedHook, isChainedHook } from "../hooks/own-hooks.ts";

/** An empty value that injection filled, and that `uninject` restores. */
export type EmptyParent = null | Readonly<Record<string, never>> | readonly never[];

export type OriginalRecord = {
  /** `terminationGracePeriodSeconds`; null if the Pod did not set it. */
  readonly grace: number | null;
  readonly probes: readonly string[];
  readonly pullSecrets: readonly string[];
  readonly preStop: Readonly<Record<string, unknown>>;
  readonly chain: Readonly<Record<string, ChainedHook>>;
  /** Earlier values of annotations; null for an annotation that the Pod did not have. */
  readonly annotations: Readonly<Record<string, string | null>>;
  /**
   * Keys: `metadata`, `annotations`, `initContainers`, `imagePullSecrets`, `volumes`, `grace`, `lifecycle/<container>`,
   * `env/<container>`, `volumeMounts/<container>`, `<container>/liveness`.
   */
  readonly empty: Readonly<Record<string, EmptyParent>>;
};

/** The record is part of every Pod and of every watch event. */
const RECORD_LIMIT_BYTES = 4_096;

/**
 * Deterministic; empty fields are omitted. Dollar signs are escaped, because the kubelet expands `$(NAME)` in variables.
 */
export function formatRecord(record: OriginalRecord): string {
  const { grace, probes, pullSecrets, preStop, chain, annotations, empty } = record;
  const text = JSON.stringify({
    grace,
    ...(probes.length > 0 ? { probes } : {}),
    ...(pullSecrets.length > 0 ? { pullSecrets } : {}),
    ...(isEmpty(preStop) ? {} : { preStop }),
    ...(isEmpty(chain) ? {} : { chain }),
    ...(isEmpty(annotations) ? {} : { annotations }),
    ...(isEmpty(empty) ? {} : { empty }),
  });
  return text.replaceAll("$", "\\u0024");
}

export function fitsLimit(text: string): boolean {
  // A UTF-16 unit takes at most three bytes, so a short text is not encoded.
  return text.length * 3 <= RECORD_LIMIT_BYTES || new TextEncoder().encode(text).length <= RECORD_LIMIT_BYTES;
}

/** Linux limits a variable to this many bytes, so a longer text is not a record. */
const VARIABLE_LIMIT_BYTES = 131_072;

export function parseRecord(text: string): OriginalRecord | undefined {
  if (text.length >= VARIABLE_LIMIT_BYTES) return undefined;
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
    empty: entriesWhere(objectAt(value, "empty"), isEmptyParent),
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
  isValid: (value: unknown, key: string) => value is T,
): Record<string, T> {
  const entries = Object.entries(record ?? {}).flatMap(([key, value]) =>
    isValid(value, key) ? [[key, value] as const] : [],
  );
  return Object.fromEntries(entries);
}

function isHandler(value: unknown): boolean {
  return value === null || isRawObject(value);
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}

/** Accepts only values of the field's type, so that restoring them does not make the Pod invalid. */
function isEmptyParent(value: unknown, name: string): value is EmptyParent {
  if (value === null) return true;
  if (
    ["containers", "imagePullSecrets", "initContainers", "volumes"].includes(name) ||
    /^(env|volumeMounts)\//.test(name)
  )
    return Array.isArray(value) && value.length === 0;
  const isObjectField = name === "metadata" || name === "annotations" || name.startsWith("lifecycle/");
  return isObjectField && isRawObject(value) && isEmpty(value);
}

export function replacedHandlers(pod: RawObject, containers: readonly string[]): Readonly<Record<string, unknown>> {
  const heldContainers = new Set(containers);
  const entries = containersOf(pod).flatMap((container) => {
    const lifecycle = objectAt(container, "lifecycle");
    if (lifecycle === undefined || !heldContainers.has(nameOf(container))) return [];
    return Object.hasOwn(lifecycle, "preStop") ? [[nameOf(container), lifecycle["preStop"]] as const] : [];
  });
  return Object.fromEntries(entries);
}

export function replacedAnnotations(
  annotations: RawObject,
  keys: readonly string[],
): Readonly<Record<string, string | null>> {
  const entries = keys.map((key) => {
    const previous = annotations[key];
    return [key, typeof previous === "string" ? previous : null] as const;
  });
  return Object.fromEntries(entries);
}
