/** The drains that the replicas of lastcall's webhook remember, read by port-forward through the API server. */
import type { AskApi } from "../../api-server/api-request.ts";
import type { AskPod } from "../../api-server/pod-runner.ts";
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { isRawObject } from "../../kubernetes/raw-json.ts";
import { askJson } from "./ask-json.ts";
import { drainsInValue } from "./drain-text.ts";
import { findReplicas, type Replica } from "./find-replicas.ts";

/** For one replica, in milliseconds. A replica that hangs must not keep the others' drains from being seen. */
const REPLICA_LIMIT_MS = 5_000;

export type DrainQuestion = {
  readonly lastcallNamespace: string | undefined;
  /** Only drains of Pods in it; `undefined`: of all. */
  readonly namespace: string | undefined;
  readonly signal: AbortSignal;
};

export type ClusterDrains = {
  /** One list for each replica that answered. */
  readonly lists: readonly (readonly DrainRecord[])[];
  /** A sentence for each replica that did not, and for whatever else is missing. */
  readonly problems: readonly string[];
};

export type Cluster = { readonly ask: AskApi; readonly askPod: AskPod };

export async function clusterDrains({ ask, askPod }: Cluster, question: DrainQuestion): Promise<ClusterDrains> {
  const found = await findReplicas(ask, question.lastcallNamespace, question.signal);
  const answers = await Promise.all(found.replicas.map((replica) => drainsOf(askPod(replica), replica, question)));
  return {
    lists: answers.flatMap(({ drains }) => (drains === undefined ? [] : [drains])),
    problems: [...found.problems, ...answers.flatMap(({ problem }) => (problem === undefined ? [] : [problem]))],
  };
}

type Answered = { readonly drains?: readonly DrainRecord[]; readonly problem?: string };

async function drainsOf(ask: AskApi, replica: Replica, { namespace, signal }: DrainQuestion): Promise<Answered> {
  const name = `${replica.namespace}/${replica.pod}`;
  const answer = await askJson(ask, { path: pathOf(namespace), limitMs: REPLICA_LIMIT_MS, signal });
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
