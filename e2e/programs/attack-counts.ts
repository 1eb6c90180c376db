/** Defines the counts of attackers by attack, and the protocol of their control port. */
import type { ConnectionCounts } from "./run-attack.ts";

export type AttackCounts = Readonly<Record<string, ConnectionCounts>>;

/** A line of standard output, printed every second and at the exit. */
export type AttackerLine = {
  readonly at: string;
  readonly what: string;
  readonly targets: readonly string[];
  readonly counts: AttackCounts;
};

/** The control port of an attacker: a POST of a JSON list sets the attacked addresses. */
export const CONTROL_PORT = 9000;

export function sumOfCounts(all: readonly AttackCounts[]): AttackCounts {
  const names = new Set(all.flatMap((counts) => Object.keys(counts)));
  const sum = (name: string, count: keyof ConnectionCounts) =>
    all.reduce((total, one) => total + (one[name]?.[count] ?? 0), 0);
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      {
        opened: sum(name, "opened"),
        connected: sum(name, "connected"),
        answered: sum(name, "answered"),
        closedByServer: sum(name, "closedByServer"),
      },
    ]),
  );
}
