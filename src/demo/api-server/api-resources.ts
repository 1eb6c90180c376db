/** Which objects a request is about, among the few kinds this API server keeps. Pure. */

export type ApiResource = {
  /** `/api/v1` or `/apis/<group>/<version>`. */
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
};

export const NAMESPACES: ApiResource = core("namespaces", "Namespace", false);
export const NODES: ApiResource = core("nodes", "Node", false);
const LIMIT_RANGES: ApiResource = core("limitranges", "LimitRange", true);
const SECRETS: ApiResource = core("secrets", "Secret", true);
const EVENTS: ApiResource = core("events", "Event", true);
export const ENDPOINT_SLICES: ApiResource = {
  group: "/apis/discovery.k8s.io/v1",
  resource: "endpointslices",
  kind: "EndpointSlice",
  namespaced: true,
};

const KEPT: readonly ApiResource[] = [NAMESPACES, NODES, LIMIT_RANGES, SECRETS, EVENTS, ENDPOINT_SLICES];

export type Asked = {
  readonly resource: ApiResource;
  /** Empty: every namespace, or objects that are in none. */
  readonly namespace: string;
  /** Empty: the whole collection. */
  readonly name: string;
};

/** @returns `undefined` for a path a real API server may know and this one does not */
export function askedFor(path: string): Asked | undefined {
  const [, group = "", rest = ""] = /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)\/(.+)$/.exec(path) ?? [];
  const words = rest.split("/").map(decoded);
  const [first = "", namespace = "", inside = "", name = ""] = words;
  if (first === "namespaces" && words.length > 2) return found({ group, resource: inside, namespace, name }, words, 4);
  return found({ group, resource: first, namespace: "", name: namespace }, words, 2);
}

/** As the API names what a group's objects are of: `v1`, `discovery.k8s.io/v1`. */
export function apiVersionOf({ group }: ApiResource): string {
  return group.replace(/^\/apis?\//, "");
}

type Named = { readonly group: string; readonly resource: string; readonly namespace: string; readonly name: string };

function found(named: Named, words: readonly string[], longest: number): Asked | undefined {
  const { group, namespace, name } = named;
  const resource = KEPT.find((kept) => kept.group === group && kept.resource === named.resource);
  // What follows the name, such as `status`, is not kept apart here.
  if (resource === undefined || words.length > longest || words.includes("")) return undefined;
  if (!resource.namespaced && namespace !== "") return undefined;
  // One object of a namespaced kind cannot be named without its namespace.
  return resource.namespaced && namespace === "" && name !== "" ? undefined : { resource, namespace, name };
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return "";
  }
}

function core(resource: string, kind: string, namespaced: boolean): ApiResource {
  return { group: "/api/v1", resource, kind, namespaced };
}
