/** Computes one Pod's withdrawal status from the slices, and sends it to the manager when it changed. */
import type { WithdrawalRequest, WithdrawalStatusLine } from "../../contract/relay-wire.ts";
import type { EndpointState, PodIdentity } from "../../kubernetes/rotation/rotation.ts";
import { endpointStateOf } from "../../kubernetes/rotation/rotation-of.ts";
import type { NamespaceWatch } from "./namespace-watch.ts";
import type { IndexClient } from "./slice-index.ts";

export type PodFacts = { readonly terminating: boolean; readonly graceSeconds: number | undefined };

export type PodWatch = {
  readonly namespace: string;
  readonly attach: (watch: NamespaceWatch) => void;
  readonly update: () => void;
  readonly setFacts: (facts: PodFacts) => void;
  readonly leave: () => void;
};

type PodWatchPorts = {
  readonly onStatus: (line: WithdrawalStatusLine) => void;
  readonly onFault: (fault: unknown) => void;
};

const OUR_FAULT = "the relay failed to evaluate the slices";

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
  let facts: PodFacts = { terminating: false, graceSeconds: undefined };
  let attached: { readonly watch: NamespaceWatch; readonly client: IndexClient } | undefined;
  let sent = "";
  let hasFailed = false;

  /** A fault about one Pod must not end the process or delay the lines of other Pods. */
  const readRotation = (client: IndexClient): EndpointState | undefined => {
    try {
      return endpointStateOf(client.slices(), pod);
    } catch (fault) {
      if (!hasFailed) onFault(fault);
      hasFailed = true;
      return undefined;
    }
  };

  const update = (): void => {
    const unknownReason = attached === undefined ? waitingReason : attached.watch.unknownReason();
    const rotation = attached === undefined || unknownReason !== undefined ? undefined : readRotation(attached.client);
    wasTerminating ||= rotation?.terminating === true;
    const line: WithdrawalStatusLine = {
      state: rotation?.state ?? "unknown",
      terminating: wasTerminating || facts.terminating,
      // Part of it may come from a network error, and it is logged.
      reason: (rotation?.reason ?? unknownReason ?? OUR_FAULT).slice(0, REASON_LIMIT).replace(/[^\x20-\x7e]/g, "?"),
      ...(facts.graceSeconds === undefined ? {} : { graceSeconds: facts.graceSeconds }),
    };
    const text = JSON.stringify(line);
    if (text === sent) return;
    sent = text;
    onStatus(line);
  };

  return {
    namespace: request.namespace,
    attach: (watch) => {
      attached = { watch, client: watch.add(pod, update) };
      update();
    },
    update,
    setFacts: (now) => {
      facts = now;
      update();
    },
    leave: () => attached?.client.leave(),
  };
}
