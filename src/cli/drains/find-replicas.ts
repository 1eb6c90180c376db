/** Lists the Pods of lastcall's webhook that serve `/drains.json`. */
import type { SendRequest } from "../../api-server/api-request.ts";
import { isRawObject, objectAt, objectsAt, type RawObject, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import { quote } from "../../policy/quote.ts";
import { getJson } from "../get-json.ts";

/** The namespace in which the chart's documentation installs lastcall. */
const DEFAULT_NAMESPACE = "lastcall";

/** Labels that the chart sets on the webhook's Pods, whatever the name of the release is. */
const SELECTOR = "app.kubernetes.io/name=lastcall,app.kubernetes.io/component=webhook";

const ADMIN_PORT = "admin";

const NAMES_LIMIT = 5;

const LIST_TIMEOUT_MS = 10_000;

export type Replica = { readonly namespace: string; readonly pod: string; readonly port: number };

type FoundReplicas = { readonly replicas: readonly Replica[]; readonly problems: readonly string[] };

/** @param namespace of lastcall; `undefined` searches `lastcall`, then all namespaces if `lastcall` has no replica */
export async function findReplicas(
  request: SendRequest,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<FoundReplicas> {
  const listing = await listReplicas(request, namespace ?? DEFAULT_NAMESPACE, signal);
  if (namespace !== undefined || listing.replicas.length > 0 || listing.isUnreachable)
    return withNotFoundProblem(listing, namespace);
  const clusterListing = await listReplicas(request, undefined, signal);
  if (clusterListing.replicas.length > 0 || clusterListing.isForbidden !== true)
    return withNotFoundProblem(clusterListing, undefined);
  return {
    replicas: [],
    problems: [...listing.problems, `${clusterListing.problems.join("; ")}; set --lastcall-namespace`],
  };
}

type Listing = FoundReplicas & { readonly isForbidden?: boolean; readonly isUnreachable?: boolean };

async function listReplicas(
  request: SendRequest,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<Listing> {
  const collectionPath =
    namespace === undefined ? "/api/v1/pods" : `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
  const path = `${collectionPath}?${new URLSearchParams({ labelSelector: SELECTOR })}`;
  const response = await getJson(request, { path, limitMs: LIST_TIMEOUT_MS, signal });
  if (!response.ok) {
    const scope = namespace === undefined ? "all namespaces" : `namespace ${namespace}`;
    return {
      replicas: [],
      problems: [`cannot list Pods in ${scope}: ${response.message}`],
      isForbidden: response.status === 403,
      isUnreachable: response.status === 0 || response.status === 401,
    };
  }
  const pods = isRawObject(response.value) ? objectsAt(response.value, "items") : [];
  const candidates = pods.filter(isNotTerminated);
  const namespaces = [...new Set(candidates.map((pod) => textAt(objectAt(pod, "metadata"), "namespace") ?? ""))];
  if (namespaces.length > 1) return { replicas: [], problems: [ambiguousNamespacesProblem(namespaces)] };
  const results = candidates.map(readReplica);
  return {
    replicas: results.filter((result) => typeof result !== "string"),
    problems: results.filter((result) => typeof result === "string"),
  };
}

/** Any tenant can set these labels on a Pod of their own namespace, so the user has to choose. */
function ambiguousNamespacesProblem(namespaces: readonly string[]): string {
  const names = namespaces.slice(0, NAMES_LIMIT).map(quote).join(", ");
  const moreText = namespaces.length > NAMES_LIMIT ? ` and ${namespaces.length - NAMES_LIMIT} more` : "";
  return `several namespaces contain Pods with the labels of lastcall's webhook: ${names}${moreText}; set --lastcall-namespace`;
}

function isNotTerminated(pod: RawObject): boolean {
  const phase = textAt(objectAt(pod, "status"), "phase");
  return phase !== "Succeeded" && phase !== "Failed";
}

function readReplica(pod: RawObject): Replica | string {
  const metadata = objectAt(pod, "metadata");
  const name = textAt(metadata, "name") ?? "";
  const namespace = textAt(metadata, "namespace") ?? "";
  const phase = textAt(objectAt(pod, "status"), "phase") ?? "Unknown";
  if (phase !== "Running") return `${namespace}/${name} is not running yet (${phase})`;
  const ports = objectsAt(objectAt(pod, "spec"), "containers").flatMap((container) => objectsAt(container, "ports"));
  const port = wholeNumberAt(
    ports.find((candidate) => textAt(candidate, "name") === ADMIN_PORT),
    "containerPort",
  );
  if (port === undefined)
    return `${namespace}/${name} has no port named ${ADMIN_PORT}: its relay or admin port is disabled; set relay.enabled and relay.adminPort in the chart`;
  return { namespace, pod: name, port };
}

function withNotFoundProblem({ replicas, problems }: Listing, namespace: string | undefined): FoundReplicas {
  if (replicas.length > 0 || problems.length > 0) return { replicas, problems };
  const where = namespace === undefined ? "the cluster" : `namespace ${namespace}`;
  return { replicas, problems: [`${where} does not have a Pod of lastcall's webhook (labels ${SELECTOR})`] };
}
