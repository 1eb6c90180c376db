/** What every part of the sanitizer run is given, tells and fails with. */
import type { Random } from "./seeded-random.ts";

export type Budget = {
  readonly random: Random;
  /** Asked before each new work. @param done how much there was so far */
  readonly goesOn: (done: number) => boolean;
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
