/** One Pod that a manager asks about: puts together what is known of it, and says it when it changed. */
import type { WithdrawalLine, WithdrawalQuestion } from "../../contract/relay-wire.ts";
import type { PodIdentity, Rotation } from "../../kubernetes/rotation/rotation.ts";
import { rotationOf } from "../../kubernetes/rotation/rotation-of.ts";
import type { NamespaceWatch } from "./namespace-watch.ts";
import type { Asker } from "./slice-index.ts";
import { lineOf, NO_POD_FACTS, type PodFacts, sameLine } from "./withdrawal-answer.ts";

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
