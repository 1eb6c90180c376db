/** Where the Pod sits inside each kind of workload. */
import { isRawObject, objectAt, type RawObject, textAt, valueAt } from "./raw-json.ts";

/** One Pod inside a document: the path of keys to it, itself, and the namespace it will run in. */
export type PodPlace = {
  /** Keys and list positions from the document's root; empty for a Pod. */
  readonly path: readonly (string | number)[];
  /** A Pod, or a template of one: it may lack `metadata`. */
  readonly pod: RawObject;
  /** Of the document; empty when it does not say. */
  readonly namespace: string;
  /** Of the object around the Pod, for messages: `Deployment/web`. */
  readonly owner: string;
  /** Annotations of the object around the Pod, which no Pod inherits; empty for a Pod itself. */
  readonly ownerAnnotations: RawObject;
};

/** The groups matter: other groups have kinds of the same name with another shape. */
const TEMPLATES: ReadonlyMap<string, readonly string[]> = new Map([
  ["/Pod", []],
  ["/PodTemplate", ["template"]],
  ["/ReplicationController", ["spec", "template"]],
  ["apps/Deployment", ["spec", "template"]],
  ["apps/ReplicaSet", ["spec", "template"]],
  ["apps/StatefulSet", ["spec", "template"]],
  ["apps/DaemonSet", ["spec", "template"]],
  ["batch/Job", ["spec", "template"]],
  ["batch/CronJob", ["spec", "jobTemplate", "spec", "template"]],
]);

/** Lists in lists are legal; more than this is an attack. */
const LIST_DEPTH_LIMIT = 8;

/** Every Pod of a document: one for a workload, many for a List, none for anything else. */
export function podsIn(document: unknown): readonly PodPlace[] {
  return placesIn(document, { at: [], depth: LIST_DEPTH_LIMIT, kindOfList: {} });
}

/** The document with the Pod at `path` replaced. Everything beside the path keeps its identity. */
export function withPodAt(document: unknown, path: readonly (string | number)[], pod: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return pod;
  if (Array.isArray(document)) {
    return document.map((item: unknown, index) => (index === key ? withPodAt(item, rest, pod) : item));
  }
  if (!isRawObject(document)) return document;
  return { ...document, [key]: withPodAt(document[key], rest, pod) };
}

type Place = { readonly at: readonly (string | number)[]; readonly depth: number; readonly kindOfList: RawObject };

function placesIn(document: unknown, place: Place): readonly PodPlace[] {
  const { at, depth, kindOfList } = place;
  if (!isRawObject(document) || depth === 0) return [];
  const kind = textAt(document, "kind") ?? textAt(kindOfList, "kind") ?? "";
  const apiVersion = textAt(document, "apiVersion") ?? textAt(kindOfList, "apiVersion") ?? "";
  const items = valueAt(document, "items");
  if (kind.endsWith("List") && Array.isArray(items)) {
    // Items of a typed list (PodList) may leave out their own kind.
    const inherited = kind === "List" ? {} : { kind: kind.slice(0, -"List".length), apiVersion };
    return items.flatMap((item: unknown, index) =>
      placesIn(item, { at: [...at, "items", index], depth: depth - 1, kindOfList: inherited }),
    );
  }
  const path = TEMPLATES.get(`${groupOf(apiVersion)}/${kind}`);
  const pod = path?.reduce<RawObject | undefined>(objectAt, document);
  if (path === undefined || pod === undefined) return [];
  const metadata = objectAt(document, "metadata");
  const name = textAt(metadata, "name") ?? textAt(metadata, "generateName") ?? "";
  return [
    {
      path: [...at, ...path],
      pod,
      namespace: textAt(metadata, "namespace") ?? "",
      owner: name === "" ? kind : `${kind}/${name}`,
      ownerAnnotations: (path.length > 0 ? objectAt(metadata, "annotations") : undefined) ?? {},
    },
  ];
}

/** Old groups of the same workloads still stand in many repositories. */
function groupOf(apiVersion: string): string {
  const cut = apiVersion.indexOf("/");
  const group = cut < 0 ? "" : apiVersion.slice(0, cut);
  return group === "extensions" ? "apps" : group;
}
