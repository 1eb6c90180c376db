/** What attackers count, by manner, and how they are spoken with. */
import type { CrowdCounts } from "./crowd.ts";

export type AttackCounts = Readonly<Record<string, CrowdCounts>>;

/** Every second on standard output, and last of all when it ends. */
export type AttackerLine = {
  readonly at: string;
  readonly what: string;
  readonly targets: readonly string[];
  readonly counts: AttackCounts;
};

/** Of an attacker's Pod: a POST of a JSON list of addresses aims it. */
export const CONTROL_PORT = 9000;

export function sumOfCounts(all: readonly AttackCounts[]): AttackCounts {
  const names = new Set(all.flatMap((one) => Object.keys(one)));
  const sum = (name: string, figure: keyof CrowdCounts) =>
    all.reduce((total, one) => total + (one[name]?.[figure] ?? 0), 0);
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      {
        begun: sum(name, "begun"),
        connected: sum(name, "connected"),
        answered: sum(name, "answered"),
        thrownOut: sum(name, "thrownOut"),
      },
    ]),
  );
}
