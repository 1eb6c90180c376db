/** Defines the budget, result and failure of a part of the sanitizer run. */
import type { Random } from "./seeded-random.ts";

export type Budget = {
  readonly random: Random;
  /** Whether the part runs another case. @param completedCases number of completed cases */
  readonly shouldContinue: (completedCases: number) => boolean;
};

/** @returns a summary for the output */
export type Part = (budget: Budget) => Promise<string>;

/** A defect with the input that causes it. */
export class Finding extends Error {
  readonly input: Buffer;
  constructor(message: string, input: Buffer) {
    super(message);
    this.name = "Finding";
    this.input = input;
  }
}
