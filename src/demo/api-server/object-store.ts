/** The objects of the demo's cluster, each change with a version of its own. Nothing is ever deleted. Pure. */
import { type Json, objectAt, textAt } from "../json-reading.ts";
import { type ApiResource, apiVersionOf } from "./api-resources.ts";

export type Change = {
  readonly version: number;
  readonly type: "ADDED" | "MODIFIED";
  readonly resource: ApiResource;
  readonly object: Json;
};

export type ObjectStore = {
  /** Of the newest change. */
  readonly version: () => number;
  /** In the order of namespace and name. An empty namespace asks for all. */
  readonly list: (resource: ApiResource, namespace: string) => readonly Json[];
  readonly get: (resource: ApiResource, namespace: string, name: string) => Json | undefined;
  /** Adds it or replaces it whole; answers it as it is kept, with its version. */
  readonly put: (resource: ApiResource, object: Json) => Json;
  /** `undefined` when some of them are forgotten already. */
  readonly changesAfter: (version: number) => readonly Change[] | undefined;
  /** @returns ends it */
  readonly subscribe: (hear: (change: Change) => void) => () => void;
};

/** A real server remembers about five minutes; this one counts, so that it needs no clock. */
const REMEMBERED_CHANGES = 1_000;

/** Versions start above 0, which means "any" to the API. */
const FIRST_VERSION = 100;

export function createObjectStore(makeUid: () => string): ObjectStore {
  const objects = new Map<string, Map<string, Json>>();
  const changes: Change[] = [];
  const listeners = new Set<(change: Change) => void>();
  let version = FIRST_VERSION;

  const collection = (resource: ApiResource): Map<string, Json> => {
    const key = `${resource.group}/${resource.resource}`;
    const known = objects.get(key) ?? new Map<string, Json>();
    objects.set(key, known);
    return known;
  };

  const note = (change: Change): void => {
    changes.push(change);
    if (changes.length > REMEMBERED_CHANGES) changes.shift();
    for (const hear of [...listeners]) hear(change);
  };

  const stamped = (resource: ApiResource, object: Json, uid: string): Json => ({
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    ...object,
    metadata: { ...objectAt(object, "metadata"), uid, resourceVersion: String(version) },
  });

  return {
    version: () => version,
    list: (resource, namespace) =>
      [...collection(resource)]
        .filter(([, object]) => namespace === "" || textAt(object, "metadata", "namespace") === namespace)
        .sort(([left], [right]) => (left < right ? -1 : 1))
        .map(([, object]) => object),
    get: (resource, namespace, name) => collection(resource).get(`${namespace}/${name}`),
    put: (resource, object) => {
      const key = keyOf(object);
      const before = collection(resource).get(key);
      version += 1;
      const kept = stamped(resource, object, textAt(before, "metadata", "uid") ?? makeUid());
      collection(resource).set(key, kept);
      note({ version, type: before === undefined ? "ADDED" : "MODIFIED", resource, object: kept });
      return kept;
    },
    changesAfter: (since) => {
      const oldest = changes[0]?.version ?? version + 1;
      // Another server's version, or one from before the first change that is remembered.
      if (since > version || since < oldest - 1) return since === version ? [] : undefined;
      return changes.filter((change) => change.version > since);
    },
    subscribe: (hear) => {
      listeners.add(hear);
      return () => listeners.delete(hear);
    },
  };
}

function keyOf(object: Json): string {
  return `${textAt(object, "metadata", "namespace") ?? ""}/${textAt(object, "metadata", "name") ?? ""}`;
}
