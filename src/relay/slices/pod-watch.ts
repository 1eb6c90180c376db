/** Judges whether the slices still offer one Pod, and sends its manager a line when the result changed. */
import type { WithdrawalLine, WithdrawalQuestion } from "../../contract/relay-wire.ts";
import type { PodIdentity, Rotation } from "../../kubernetes/rotation/rotation.ts";
import { rotationOf } from "../../kubernetes/rotation/rotation-of.ts";
import type { NamespaceWatch } from "./namespace-watch.ts";
import type { Asker } from "./slice-index.ts";

/** From the Pod itself, where it may be read. */
export type PodFacts = { readonly terminating: boolean; readonly graceSeconds: number | undefined };

export type PodWatch = {
  readonly namespace: string;
  /** Until then the state is `unknown`. */
  readonly attach: (watch: NamespaceWatch) => void;
  readonly judge: () => void;
  readonly learn: (facts: PodFacts) => void;
  readonly leave: () => void;
};

type PodWatchPorts = {
  readonly say: (line: WithdrawalLine) => void;
  /** Called for the first fault only. */
  readonly failed: (fault: unknown) => void;
};

const OUR_FAULT = "the relay failed to judge the slices";

/** In characters: two names of at most 253 and the text around them. */
const REASON_LIMIT = 700;

/** @param waiting the reason while no watch is attached */
export function watchOnePod(question: WithdrawalQuestion, { say, failed }: PodWatchPorts, waiting: string): PodWatch {
  const pod: PodIdentity = { name: question.pod, uid: question.uid, addresses: question.addresses };
  /** Kubernetes never takes a deletion back. */
  let wasTerminating = false;
  let facts: PodFacts = { terminating: false, graceSeconds: undefined };
  let attached: { readonly watch: NamespaceWatch; readonly asker: Asker } | undefined;
  let sent = "";
  let hasFailed = false;

  /** A fault about one Pod must not end the process, nor keep other Pods from their lines. */
  const rotation = (asker: Asker): Rotation | undefined => {
    try {
      return rotationOf(asker.slices(), pod);
    } catch (fault) {
      if (!hasFailed) failed(fault);
      hasFailed = true;
      return undefined;
    }
  };

  const judge = (): void => {
    const doubt = attached === undefined ? waiting : attached.watch.doubt();
    const judged = attached === undefined || doubt !== undefined ? undefined : rotation(attached.asker);
    wasTerminating ||= judged?.terminating === true;
    const line: WithdrawalLine = {
      state: judged?.state ?? "unknown",
      terminating: wasTerminating || facts.terminating,
      // Part of it may come from an error of the network, and it ends up in logs.
      reason: (judged?.reason ?? doubt ?? OUR_FAULT).slice(0, REASON_LIMIT).replace(/[^\x20-\x7e]/g, "?"),
      ...(facts.graceSeconds === undefined ? {} : { graceSeconds: facts.graceSeconds }),
    };
    const text = JSON.stringify(line);
    if (text === sent) return;
    sent = text;
    say(line);
  };

  return {
    namespace: question.namespace,
    attach: (watch) => {
      attached = { watch, asker: watch.add(pod, judge) };
      judge();
    },
    judge,
    learn: (now) => {
      facts = now;
      judge();
    },
    leave: () => attached?.asker.leave(),
  };
}
