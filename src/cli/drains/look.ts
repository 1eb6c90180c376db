/** One look at the drains of a source, and the connection that several looks share. */
import type { SendRequest } from "../../api-server/api-request.ts";
import type { PodClient } from "../../api-server/pod-client.ts";
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { isRawObject } from "../../kubernetes/raw-json.ts";
import { decodeManifest } from "../manifest/decode.ts";
import { sourceName, systemMessage } from "../open-manifests.ts";
import type { Ports } from "../ports.ts";
import { askJson } from "./ask-json.ts";
import { drainsInText, drainsInValue } from "./drain-text.ts";
import type { DrainsRequest } from "./drains-request.ts";
import { findReplicas, type Replica } from "./find-replicas.ts";

export type Look =
  | {
      readonly ok: true;
      readonly lists: readonly (readonly DrainRecord[])[];
      /** A sentence for each replica that did not answer, and for whatever else is missing. */
      readonly problems: readonly string[];
    }
  | {
      readonly ok: false;
      readonly problems: readonly string[];
    };

export type Looking = { readonly look: (signal: AbortSignal) => Promise<Look>; readonly close: () => void };

export async function openLooking(request: DrainsRequest, ports: Ports): Promise<Looking> {
  const { source, namespace } = request;
  if (source.kind === "file") {
    const look = async (): Promise<Look> => {
      const read = await fileDrains(source.path, ports);
      if (!read.ok) return { ok: false, problems: [read.message] };
      const wanted = read.drains.filter((drain) => namespace === undefined || drain.namespace === namespace);
      return { ok: true, lists: [wanted], problems: read.problems };
    };
    return { look, close: () => undefined };
  }
  const connected = await ports.drains.connect(source.choice);
  if (!connected.ok) {
    const { message } = connected;
    return { look: async () => ({ ok: false, problems: [message] }), close: () => undefined };
  }
  const look = async (signal: AbortSignal): Promise<Look> => {
    const { lastcallNamespace } = source;
    const { lists, problems } = await clusterDrains(connected, { lastcallNamespace, namespace, signal });
    if (lists.length > 0) return { ok: true, lists, problems };
    const unanswered = `no replica of lastcall at ${connected.server} told its drains. ${whatToCheck(lastcallNamespace)}`;
    return { ok: false, problems: [...problems, unanswered] };
  };
  return { look, close: connected.close };
}

function whatToCheck(namespace = "lastcall"): string {
  return (
    "Check that the chart's relay is enabled and relay.adminPort is not 0, and that you may list Pods and get and create " +
    `pods/portforward where lastcall runs (kubectl auth can-i create pods/portforward --namespace ${namespace})`
  );
}

/** For one replica, in milliseconds. A replica that hangs must not keep the others' drains from being seen. */
const REPLICA_LIMIT_MS = 5_000;

type DrainQuestion = {
  readonly lastcallNamespace: string | undefined;
  /** Only drains of Pods in it; `undefined`: of all. */
  readonly namespace: string | undefined;
  readonly signal: AbortSignal;
};

type ClusterDrains = {
  /** One list for each replica that answered. */
  readonly lists: readonly (readonly DrainRecord[])[];
  /** A sentence for each replica that did not, and for whatever else is missing. */
  readonly problems: readonly string[];
};

type Cluster = { readonly request: SendRequest; readonly askPod: PodClient };

async function clusterDrains({ request, askPod }: Cluster, question: DrainQuestion): Promise<ClusterDrains> {
  const found = await findReplicas(request, question.lastcallNamespace, question.signal);
  const answers = await Promise.all(found.replicas.map((replica) => drainsOf(askPod(replica), replica, question)));
  return {
    lists: answers.flatMap(({ drains }) => (drains === undefined ? [] : [drains])),
    problems: [...found.problems, ...answers.flatMap(({ problem }) => (problem === undefined ? [] : [problem]))],
  };
}

type Answered = { readonly drains?: readonly DrainRecord[]; readonly problem?: string };

async function drainsOf(
  request: SendRequest,
  replica: Replica,
  { namespace, signal }: DrainQuestion,
): Promise<Answered> {
  const name = `${replica.namespace}/${replica.pod}`;
  const answer = await askJson(request, { path: pathOf(namespace), limitMs: REPLICA_LIMIT_MS, signal });
  if (!answer.ok) return { problem: `${name} did not tell its drains: ${answer.message}` };
  const { value } = answer;
  if (!isRawObject(value) || value["version"] !== 1 || !Array.isArray(value["drains"]))
    return { problem: `${name} did not tell its drains: its answer is of another version than this lastcall` };
  const { drains, unread } = drainsInValue(value);
  // An older replica filters nothing.
  const wanted = drains.filter((drain) => namespace === undefined || drain.namespace === namespace);
  const problem = unread > 0 ? { problem: `${name} told ${unread} drains that this lastcall cannot read` } : {};
  return { drains: wanted, ...problem };
}

function pathOf(only: string | undefined): string {
  return only === undefined ? "/drains.json" : `/drains.json?${new URLSearchParams({ namespace: only })}`;
}

/** Drains out of a file or standard input, where no cluster is at hand. */
type FileDrains =
  | { readonly ok: true; readonly drains: readonly DrainRecord[]; readonly problems: readonly string[] }
  | { readonly ok: false; readonly message: string };

async function fileDrains(path: string, ports: Ports): Promise<FileDrains> {
  const name = sourceName(path);
  let bytes: Uint8Array;
  try {
    bytes = path === "-" ? await ports.readStandardInput() : ports.readFile(path);
  } catch (cause) {
    return { ok: false, message: `${name}: ${systemMessage(cause)}` };
  }
  const decoded = decodeManifest(bytes);
  if (!decoded.ok) return { ok: false, message: `${name}: ${decoded.message}` };
  const { drains, unread, isKnown } = drainsInText(decoded.text);
  if (!isKnown) {
    const expected = "expected what `lastcall drains --json` prints, or the log of a manager";
    return { ok: false, message: `${name}: no drain was found in it; ${expected}` };
  }
  return {
    ok: true,
    drains,
    problems: unread > 0 ? [`${name}: ${unread} of its entries are no drains of version 1`] : [],
  };
}
