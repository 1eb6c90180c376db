/** Stores the objects of the demo's cluster and the complete history of their changes. Pure. */
import { type Json, objectAt, textAt } from "../json.ts";

type ApiResource = {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
};

export const NAMESPACES = coreResource("namespaces", "Namespace");
export const NODES = coreResource("nodes", "Node");
export const ENDPOINT_SLICES: ApiResource = {
  group: "/apis/discovery.k8s.io/v1",
  plural: "endpointslices",
  kind: "EndpointSlice",
};

export const RESOURCES: readonly ApiResource[] = [
  NAMESPACES,
  NODES,
  coreResource("limitranges", "LimitRange"),
  coreResource("secrets", "Secret"),
  coreResource("events", "Event"),
  ENDPOINT_SLICES,
];

/** An empty namespace selects all namespaces, and cluster-scoped objects. */
export type Collection = { readonly resource: ApiResource; readonly namespace: string };

type Change = {
  readonly version: number;
  readonly type: "ADDED" | "MODIFIED";
  readonly resource: ApiResource;
  readonly object: Json;
};

export type ObjectStore = {
  readonly version: () => number;
  readonly list: (collection: Collection) => readonly Json[];
  readonly get: (collection: Collection, name: string) => Json | undefined;
  readonly put: (resource: ApiResource, object: Json) => Json;
  /** Calls `onChange` for each change after `version`, first for past changes. @returns a function that stops the callbacks */
  readonly follow: (collection: Collection, version: number, onChange: (change: Change) => void) => () => void;
};

/** Greater than 0, because version 0 means "any version" in the API. */
const FIRST_VERSION = 100;

export function createObjectStore(makeUid: () => string): ObjectStore {
  const objects = new Map<string, Change>();
  const changes: Change[] = [];
  const listeners = new Set<(change: Change) => void>();
  const version = () => FIRST_VERSION + changes.length;
  return {
    version,
    list: (collection) => [...objects.values()].filter((entry) => isIn(collection, entry)).map(({ object }) => object),
    get: ({ resource, namespace }, name) => objects.get(keyOf(resource, namespace, name))?.object,
    put: (resource, object) => {
      const key = keyOf(resource, namespaceOf(object), textAt(object, "metadata", "name") ?? "");
      const previous = objects.get(key);
      const nextVersion = version() + 1;
      const uid = textAt(previous?.object, "metadata", "uid") ?? makeUid();
      const stored = {
        apiVersion: apiVersionOf(resource),
        kind: resource.kind,
        ...object,
        metadata: { ...objectAt(object, "metadata"), uid, resourceVersion: String(nextVersion) },
      };
      const type = previous === undefined ? "ADDED" : "MODIFIED";
      const change: Change = { version: nextVersion, type, resource, object: stored };
      objects.set(key, change);
      changes.push(change);
      for (const listener of listeners) listener(change);
      return stored;
    },
    follow: (collection, sinceVersion, onChange) => {
      const listener = (change: Change) => {
        if (change.version > sinceVersion && isIn(collection, change)) onChange(change);
      };
      changes.forEach(listener);
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function apiVersionOf({ group }: ApiResource): string {
  return group.replace(/^\/apis?\//, "");
}

function isIn({ resource, namespace }: Collection, change: Change): boolean {
  return change.resource === resource && (namespace === "" || namespaceOf(change.object) === namespace);
}

function namespaceOf(object: Json): string {
  return textAt(object, "metadata", "namespace") ?? "";
}

function keyOf({ group, plural }: ApiResource, namespace: string, name: string): string {
  return [group, plural, namespace, name].join("/");
}

function coreResource(plural: string, kind: string): ApiResource {
  return { group: "/api/v1", plural, kind };
}
