/** Computes one Pod's withdrawal status from the slices, and sends each change to the manager. */
import type { WithdrawalRequest, WithdrawalStatusLine } from "../../contract/relay-wire.ts";
import { endpointStateOf } from "../../kubernetes/endpoints/endpoint-state-of.ts";
import type { EndpointStatus, PodIdentity } from "../../kubernetes/endpoints/slice.ts";
import type { NamespaceWatch } from "./namespace-watch.ts";
import type { IndexSubscription } from "./slice-index.ts";

export type PodDeletion = { readonly terminating: boolean; readonly graceSeconds: number | undefined };

export type PodWatch = {
  readonly namespace: string;
  readonly attach: (watch: NamespaceWatch) => void;
  readonly update: () => void;
  readonly setDeletion: (deletion: PodDeletion) => void;
  readonly unsubscribe: () => void;
};

type PodWatchPorts = {
  readonly onStatus: (line: WithdrawalStatusLine) => void;
  readonly onFault: (fault: unknown) => void;
};

const INTERNAL_FAULT = "the relay failed to evaluate the EndpointSlices";

/** In characters: two names of at most 253 and the text around them. */
const REASON_LIMIT = 700;

export function watchOnePod(
  request: WithdrawalRequest,
  { onStatus, onFault }: PodWatchPorts,
  waitingReason: string,
): PodWatch {
  const pod: PodIdentity = { name: request.pod, uid: request.uid, addresses: request.addresses };
  /** Stays true: Kubernetes never cancels a deletion. */
  let wasTerminating = false;
  let deletion: PodDeletion = { terminating: false, graceSeconds: undefined };
  let attachment: { readonly watch: NamespaceWatch; readonly subscription: IndexSubscription } | undefined;
  let lastText = "";
  let hasFailed = false;

  /** Catches faults: a fault in the evaluation of one Pod must not end the process or delay the status lines of other Pods. */
  const computeEndpointStatus = (subscription: IndexSubscription): EndpointStatus | undefined => {
    try {
      return endpointStateOf(subscription.slices(), pod);
    } catch (fault) {
      if (!hasFailed) onFault(fault);
      hasFailed = true;
      return undefined;
    }
  };

  const update = (): void => {
    const unknownReason = attachment === undefined ? waitingReason : attachment.watch.unknownReason();
    const endpointStatus =
      attachment === undefined || unknownReason !== undefined
        ? undefined
        : computeEndpointStatus(attachment.subscription);
    wasTerminating ||= endpointStatus?.terminating === true;
    const line: WithdrawalStatusLine = {
      state: endpointStatus?.state ?? "unknown",
      terminating: wasTerminating || deletion.terminating,
      // Printable ASCII only: the manager logs the reason, and a part of it may come from a network error.
      reason: (endpointStatus?.reason ?? unknownReason ?? INTERNAL_FAULT)
        .slice(0, REASON_LIMIT)
        .replace(/[^\x20-\x7e]/g, "?"),
      ...(deletion.graceSeconds === undefined ? {} : { graceSeconds: deletion.graceSeconds }),
    };
    const text = JSON.stringify(line);
    if (text === lastText) return;
    lastText = text;
    onStatus(line);
  };

  return {
    namespace: request.namespace,
    attach: (watch) => {
      attachment = { watch, subscription: watch.add(pod, update) };
      update();
    },
    update,
    setDeletion: (newDeletion) => {
      deletion = newDeletion;
      update();
    },
    unsubscribe: () => attachment?.subscription.unsubscribe(),
  };
}
