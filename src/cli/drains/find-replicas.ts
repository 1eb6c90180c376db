/** The Pods of lastcall's webhook that can be asked for drains. */
import type { SendRequest } from "../../api-server/api-request.ts";
import { isRawObject, objectAt, objectsAt, type RawObject, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import { quote } from "../../policy/quote.ts";
import { askJson } from "./ask-json.ts";

/** Where the chart's documentation installs it. */
const USUAL_NAMESPACE = "lastcall";

/** The chart's labels, whatever the release is called. */
const SELECTOR = "app.kubernetes.io/name=lastcall,app.kubernetes.io/component=webhook";

/** The name of the container port that serves `/drains.json`. */
const ADMIN_PORT = "admin";

/** More names than this are no help. */
const NAMES = 5;

const LIST_LIMIT_MS = 10_000;

export type Replica = { readonly namespace: string; readonly pod: string; readonly port: number };

type FoundReplicas = { readonly replicas: readonly Replica[]; readonly problems: readonly string[] };

/** @param namespace of lastcall; `undefined`: the usual one, and when nothing is there, all */
export async function findReplicas(
  request: SendRequest,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<FoundReplicas> {
  const first = await listIn(request, namespace ?? USUAL_NAMESPACE, signal);
  if (namespace !== undefined || first.replicas.length > 0 || first.isUnreachable) return saying(first, namespace);
  const everywhere = await listIn(request, undefined, signal);
  if (everywhere.replicas.length > 0 || everywhere.isForbidden !== true) return saying(everywhere, undefined);
  return {
    replicas: [],
    problems: [...first.problems, `${everywhere.problems.join("; ")}; give --lastcall-namespace`],
  };
}

type Listed = FoundReplicas & { readonly isForbidden?: boolean; readonly isUnreachable?: boolean };

async function listIn(request: SendRequest, namespace: string | undefined, signal: AbortSignal): Promise<Listed> {
  const where = namespace === undefined ? "/api/v1/pods" : `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
  const path = `${where}?${new URLSearchParams({ labelSelector: SELECTOR })}`;
  const answer = await askJson(request, { path, limitMs: LIST_LIMIT_MS, signal });
  if (!answer.ok) {
    const place = namespace === undefined ? "all namespaces" : `namespace ${namespace}`;
    return {
      replicas: [],
      problems: [`the Pods of ${place} cannot be listed: ${answer.message}`],
      isForbidden: answer.status === 403,
      isUnreachable: answer.status === 0 || answer.status === 401,
    };
  }
  const pods = isRawObject(answer.value) ? objectsAt(answer.value, "items") : [];
  const alive = pods.filter(isAlive);
  const places = [...new Set(alive.map((pod) => textAt(objectAt(pod, "metadata"), "namespace") ?? ""))];
  if (places.length > 1) return { replicas: [], problems: [severalPlaces(places)] };
  const looked = alive.map(replicaIn);
  return {
    replicas: looked.filter((one) => typeof one !== "string"),
    problems: looked.filter((one) => typeof one === "string"),
  };
}

/** Anybody may give these labels to a Pod of their own namespace; whose drains are true is for a person to say. */
function severalPlaces(places: readonly string[]): string {
  const names = places.slice(0, NAMES).map(quote).join(", ");
  const more = places.length > NAMES ? ` and ${places.length - NAMES} more` : "";
  return `Pods with the labels of lastcall's webhook are in the namespaces ${names}${more}; give --lastcall-namespace`;
}

/** A Pod that has ended stays listed until it is removed. */
function isAlive(pod: RawObject): boolean {
  const phase = textAt(objectAt(pod, "status"), "phase");
  return phase !== "Succeeded" && phase !== "Failed";
}

/** @returns a sentence about a Pod that cannot be asked */
function replicaIn(pod: RawObject): Replica | string {
  const metadata = objectAt(pod, "metadata");
  const name = textAt(metadata, "name") ?? "";
  const namespace = textAt(metadata, "namespace") ?? "";
  const phase = textAt(objectAt(pod, "status"), "phase") ?? "Unknown";
  if (phase !== "Running") return `${namespace}/${name} is not running yet (${phase})`;
  const ports = objectsAt(objectAt(pod, "spec"), "containers").flatMap((container) => objectsAt(container, "ports"));
  const port = wholeNumberAt(
    ports.find((one) => textAt(one, "name") === ADMIN_PORT),
    "containerPort",
  );
  if (port === undefined)
    return `${namespace}/${name} has no port named ${ADMIN_PORT}: its relay or its admin port is switched off`;
  return { namespace, pod: name, port };
}

function saying({ replicas, problems }: Listed, namespace: string | undefined): FoundReplicas {
  if (replicas.length > 0 || problems.length > 0) return { replicas, problems };
  const has = namespace === undefined ? "no namespace has a" : `namespace ${namespace} has no`;
  return { replicas, problems: [`${has} Pod of lastcall's webhook (labels ${SELECTOR})`] };
}
