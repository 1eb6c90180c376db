/** What every part of the sanitizer run is given, tells and fails with. */
import type { Random } from "./seeded-random.ts";

export type Budget = {
  readonly random: Random;
  /** When no new work is begun, on the clock of `performance.now()`. */
  readonly untilMs: number;
};

/** @returns what was tried, for the table */
export type Part = (budget: Budget) => Promise<string>;

/** A defect, with what brought it about. */
export class Finding extends Error {
  readonly input: Buffer;
  constructor(message: string, input: Buffer) {
    super(message);
    this.name = "Finding";
    this.input = input;
  }
}

export function timeIsLeft(budget: Budget): boolean {
  return performance.now() < budget.untilMs;
}
