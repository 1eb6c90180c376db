/** What is known of a Pod to the line its manager reads. Pure. */
import type { WithdrawalLine } from "../../contract/relay-wire.ts";
import type { Rotation } from "../../kubernetes/rotation/rotation.ts";

/** What the Pod itself said, where it may be read. */
export type PodFacts = { readonly terminating: boolean; readonly graceSeconds: number | undefined };

export const NO_POD_FACTS: PodFacts = { terminating: false, graceSeconds: undefined };

/** What was once seen stays true of this Pod: an end is never taken back, and a Service that offered it did offer it. */
export type Memory = { readonly terminating: boolean; readonly services: readonly string[] };

export const NO_MEMORY: Memory = { terminating: false, services: [] };

/** Services counted for one Pod; beyond it is just many. */
const SERVICES_LIMIT = 100;
/** Two names of at most 253 characters and the words around them. */
const REASON_LIMIT = 700;

export function remember(memory: Memory, rotation: Rotation): Memory {
  const services = new Set([...memory.services, ...rotation.offers.map((offer) => offer.service)]);
  return {
    terminating: memory.terminating || rotation.terminating,
    services: services.size === memory.services.length ? memory.services : [...services].slice(0, SERVICES_LIMIT),
  };
}

export type Known = {
  /** `undefined` where the slices cannot be believed. */
  readonly rotation: Rotation | undefined;
  readonly doubt: string;
  readonly memory: Memory;
  readonly facts: PodFacts;
};

export function lineOf({ rotation, doubt, memory, facts }: Known): WithdrawalLine {
  return {
    state: rotation?.state ?? "unknown",
    terminating: memory.terminating || facts.terminating,
    services: memory.services.length,
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
    left.services === right.services &&
    left.reason === right.reason &&
    left.graceSeconds === right.graceSeconds
  );
}
