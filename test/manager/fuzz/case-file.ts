/** Encodes parser cases in the input format of native-parsers-main.ts. */
import { mutate, splice } from "./mutations.ts";
import { PARSERS } from "./parser-calls.ts";
import { extraArgumentFor, SAMPLES, type Sample } from "./samples.ts";
import type { Random } from "./seeded-random.ts";

export function encodeCase(sample: Sample): Buffer {
  const extraArgument = Buffer.from(sample.extraArgument);
  const head = Buffer.alloc(9);
  head.writeUInt8(PARSERS.indexOf(sample.parser), 0);
  head.writeUInt32LE(sample.bytes.length, 1);
  head.writeUInt32LE(extraArgument.length, 5);
  return Buffer.concat([head, sample.bytes, extraArgument]);
}

/** @returns a damaged sample or, rarely, a valid one, for which both builds must also agree */
export function createMutant(random: Random): Sample {
  const sample = random.pick(SAMPLES);
  const other = random.pick(SAMPLES.filter((one) => one.parser === sample.parser));
  const base = random.chance(0.1) ? splice(sample.bytes, other.bytes, random) : sample.bytes;
  const bytes = random.chance(0.02) ? base : mutate(base, random);
  return {
    parser: sample.parser,
    bytes,
    extraArgument: mutateArgument(extraArgumentFor(sample, bytes, random), sample, random),
  };
}

function mutateArgument(extraArgument: string, sample: Sample, random: Random): string {
  if (sample.parser !== "count" || extraArgument === "" || random.chance(0.8)) return extraArgument;
  return mutate(Buffer.from(extraArgument), random).toString("utf8");
}
