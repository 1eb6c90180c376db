/** What is known of a Pod to the line its manager reads. Pure. */
import type { WithdrawalLine } from "../../contract/relay-wire.ts";
import type { Rotation } from "../../kubernetes/rotation/rotation.ts";

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
