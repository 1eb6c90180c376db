/** One Pod that a manager asks about: puts together what is known of it, and says it when it changed. */
import type { WithdrawalLine, WithdrawalQuestion } from "../../contract/relay-wire.ts";
import type { PodIdentity, Rotation } from "../../kubernetes/rotation/rotation.ts";
import { rotationOf } from "../../kubernetes/rotation/rotation-of.ts";
import type { NamespaceWatch } from "./namespace-watch.ts";
import type { Asker } from "./slice-index.ts";

/** What the Pod itself said, where it may be read. */
export type PodFacts = { readonly terminating: boolean; readonly graceSeconds: number | undefined };

export const NO_POD_FACTS: PodFacts = { terminating: false, graceSeconds: undefined };

/** Two names of at most 253 characters and the words around them. */
const REASON_LIMIT = 700;

type Known = {
  /** `undefined` where the slices cannot be believed. */
  readonly rotation: Rotation | undefined;
  readonly doubt: string;
  /** A slice was once seen that marks the Pod as terminating, which is never taken back. */
  readonly wasTerminating: boolean;
  readonly facts: PodFacts;
};

export function lineOf({ rotation, doubt, wasTerminating, facts }: Known): WithdrawalLine {
  return {
    state: rotation?.state ?? "unknown",
    terminating: wasTerminating || facts.terminating,
    reason: printable(rotation?.reason ?? doubt),
    ...(facts.graceSeconds === undefined ? {} : { graceSeconds: facts.graceSeconds }),
  };
}

/** Part of it may come from an error of the network: it ends up in a log and before people. */
function printable(reason: string): string {
  return reason.slice(0, REASON_LIMIT).replace(/[^\x20-\x7e]/g, "?");
}

export function sameLine(left: WithdrawalLine | undefined, right: WithdrawalLine): boolean {
  return (
    left !== undefined &&
    left.state === right.state &&
    left.terminating === right.terminating &&
    left.reason === right.reason &&
    left.graceSeconds === right.graceSeconds
  );
}

export type PodWatch = {
  readonly namespace: string;
  /** Begins with the slices; until then the answer is `unknown`. */
  readonly attach: (watch: NamespaceWatch) => void;
  /** Says what is known if that has changed. */
  readonly judge: () => void;
  /** The Pod itself was read. */
  readonly learn: (facts: PodFacts) => void;
  readonly leave: () => void;
};

type PodWatchPorts = {
  readonly say: (line: WithdrawalLine) => void;
  /** Hears of the first fault. */
  readonly failed: (fault: unknown) => void;
};

const OUR_FAULT = "the relay failed to judge the slices";

/** @param waiting why there is no watch yet, for the reason of the first line */
export function watchOnePod(question: WithdrawalQuestion, { say, failed }: PodWatchPorts, waiting: string): PodWatch {
  const pod: PodIdentity = { name: question.pod, uid: question.uid, addresses: question.addresses };
  let wasTerminating = false;
  let facts: PodFacts = NO_POD_FACTS;
  let attached: { readonly watch: NamespaceWatch; readonly asker: Asker } | undefined;
  let said: WithdrawalLine | undefined;
  let hasFailed = false;

  /** A fault in what is made of one Pod's slices must not keep others from being told, nor end the process. */
  const guarded = (judged: () => Rotation): Rotation | undefined => {
    try {
      return judged();
    } catch (fault) {
      if (!hasFailed) failed(fault);
      hasFailed = true;
      return undefined;
    }
  };

  const judge = (): void => {
    const doubt = attached === undefined ? waiting : attached.watch.doubt();
    const asker = attached?.asker;
    const rotation =
      asker === undefined || doubt !== undefined ? undefined : guarded(() => rotationOf(asker.slices(), pod));
    wasTerminating ||= rotation?.terminating === true;
    const line = lineOf({ rotation, doubt: doubt ?? OUR_FAULT, wasTerminating, facts });
    if (sameLine(said, line)) return;
    said = line;
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
