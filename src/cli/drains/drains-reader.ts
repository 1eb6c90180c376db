/** Reads drains from a file, or from the replicas of a cluster over one API connection. */
import type { SendRequest } from "../../api-server/api-request.ts";
import type { PodClient } from "../../api-server/pod-client.ts";
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { isRawObject } from "../../kubernetes/raw-json.ts";
import { getJson } from "../get-json.ts";
import { decodeManifest } from "../manifest/decode.ts";
import { sourceName, systemMessage } from "../open-manifests.ts";
import type { Ports } from "../ports.ts";
import { drainsInText, drainsInValue } from "./drain-text.ts";
import type { DrainsRequest } from "./drains-request.ts";
import { findReplicas, type Replica } from "./find-replicas.ts";

export type DrainsReading =
  | {
      readonly ok: true;
      readonly drainLists: readonly (readonly DrainRecord[])[];
      /** One problem for each replica that did not return its drains, and one for each replica or file with skipped records. */
      readonly problems: readonly string[];
    }
  | {
      readonly ok: false;
      readonly problems: readonly string[];
    };

export type DrainsReader = {
  readonly read: (signal: AbortSignal) => Promise<DrainsReading>;
  readonly close: () => void;
};

export async function openDrainsReader(request: DrainsRequest, ports: Ports): Promise<DrainsReader> {
  const { source, namespace } = request;
  if (source.kind === "file") {
    const read = async (): Promise<DrainsReading> => {
      const file = await readFileDrains(source.path, ports);
      if (!file.ok) return { ok: false, problems: [file.message] };
      const matchingDrains = file.drains.filter((drain) => namespace === undefined || drain.namespace === namespace);
      return { ok: true, drainLists: [matchingDrains], problems: file.problems };
    };
    return { read, close: () => undefined };
  }
  const connection = await ports.drains.connect(source.choice);
  if (!connection.ok) {
    const { message } = connection;
    return { read: async () => ({ ok: false, problems: [message] }), close: () => undefined };
  }
  const { lastcallNamespace } = source;
  const read = (signal: AbortSignal) => readClusterDrains(connection, { lastcallNamespace, namespace, signal });
  return { read, close: connection.close };
}

/** Fails if no replica returned its drains. */
export async function readClusterDrains(cluster: Cluster, query: DrainQuery): Promise<DrainsReading> {
  const { lists, problems } = await fetchClusterDrains(cluster, query);
  if (lists.length > 0) return { ok: true, drainLists: lists, problems };
  const noReplicaProblem = `no lastcall replica at ${cluster.server} returned its drains. ${remedyText(query.lastcallNamespace)}`;
  return { ok: false, problems: [...problems, noReplicaProblem] };
}

function remedyText(namespace = "lastcall"): string {
  return (
    "Check that the chart value relay.enabled is true and relay.adminPort is not 0, and that you may list Pods and get and create " +
    `pods/portforward where lastcall runs (kubectl auth can-i create pods/portforward --namespace ${namespace})`
  );
}

/** Applies to each replica, so that an unresponsive replica does not block the drains of the others. */
const REPLICA_TIMEOUT_MS = 5_000;

type DrainQuery = {
  readonly lastcallNamespace: string | undefined;
  readonly namespace: string | undefined;
  readonly signal: AbortSignal;
};

type ClusterDrains = {
  readonly lists: readonly (readonly DrainRecord[])[];
  readonly problems: readonly string[];
};

type Cluster = { readonly server: string; readonly request: SendRequest; readonly podClient: PodClient };

async function fetchClusterDrains({ request, podClient }: Cluster, query: DrainQuery): Promise<ClusterDrains> {
  const foundReplicas = await findReplicas(request, query.lastcallNamespace, query.signal);
  const results = await Promise.all(
    foundReplicas.replicas.map((replica) => fetchDrains(podClient(replica), replica, query)),
  );
  return {
    lists: results.flatMap(({ drains }) => (drains === undefined ? [] : [drains])),
    problems: [
      ...foundReplicas.problems,
      ...results.flatMap(({ problem }) => (problem === undefined ? [] : [problem])),
    ],
  };
}

type ReplicaResult = { readonly drains?: readonly DrainRecord[]; readonly problem?: string };

async function fetchDrains(
  request: SendRequest,
  replica: Replica,
  { namespace, signal }: DrainQuery,
): Promise<ReplicaResult> {
  const name = `${replica.namespace}/${replica.pod}`;
  const response = await getJson(request, { path: drainsPath(namespace), limitMs: REPLICA_TIMEOUT_MS, signal });
  if (!response.ok) return { problem: `${name} did not return its drains: ${response.message}` };
  const { value } = response;
  if (!isRawObject(value) || value["version"] !== 1 || !Array.isArray(value["drains"]))
    return {
      problem: `${name} did not return its drains: this version of lastcall does not support the format of the response; run the version of lastcall that the webhook runs`,
    };
  const { drains, unreadableCount } = drainsInValue(value);
  // Replicas of older versions ignore the query parameter.
  const matching = drains.filter((drain) => namespace === undefined || drain.namespace === namespace);
  const problem =
    unreadableCount > 0
      ? {
          problem: `${name} returned ${unreadableCount} drains that this version of lastcall cannot read; run the version of lastcall that the webhook runs`,
        }
      : {};
  return { drains: matching, ...problem };
}

function drainsPath(podNamespace: string | undefined): string {
  return podNamespace === undefined
    ? "/drains.json"
    : `/drains.json?${new URLSearchParams({ namespace: podNamespace })}`;
}

type FileDrains =
  | { readonly ok: true; readonly drains: readonly DrainRecord[]; readonly problems: readonly string[] }
  | { readonly ok: false; readonly message: string };

async function readFileDrains(path: string, ports: Ports): Promise<FileDrains> {
  const name = sourceName(path);
  let bytes: Uint8Array;
  try {
    bytes = path === "-" ? await ports.readStandardInput() : ports.readFile(path);
  } catch (cause) {
    return { ok: false, message: `${name}: ${systemMessage(cause)}` };
  }
  const decoded = decodeManifest(bytes);
  if (!decoded.ok) return { ok: false, message: `${name}: ${decoded.message}` };
  const { drains, unreadableCount, isRecognized } = drainsInText(decoded.text);
  if (!isRecognized) {
    const expectedText = "expected the output of `lastcall drains --json` or a manager's log";
    return { ok: false, message: `${name}: does not contain a drain; ${expectedText}` };
  }
  return {
    ok: true,
    drains,
    problems:
      unreadableCount > 0
        ? [`${name}: entries skipped because they are not drains of version 1: ${unreadableCount}`]
        : [],
  };
}
