/** Encodes parser cases in the input format of native-parsers-main.ts. */
import { mutated, spliced } from "./mutations.ts";
import { PARSERS } from "./parser-calls.ts";
import { moreFor, SAMPLES, type Sample } from "./samples.ts";
import type { Random } from "./seeded-random.ts";

export function caseBytes(sample: Sample): Buffer {
  const more = Buffer.from(sample.more);
  const head = Buffer.alloc(9);
  head.writeUInt8(PARSERS.indexOf(sample.parser), 0);
  head.writeUInt32LE(sample.bytes.length, 1);
  head.writeUInt32LE(more.length, 5);
  return Buffer.concat([head, sample.bytes, more]);
}

/** @returns a damaged sample or, rarely, a valid one, for which both builds must also agree */
export function mutant(random: Random): Sample {
  const sample = random.pick(SAMPLES);
  const other = random.pick(SAMPLES.filter((one) => one.parser === sample.parser));
  const base = random.chance(0.1) ? spliced(sample.bytes, other.bytes, random) : sample.bytes;
  const bytes = random.chance(0.02) ? base : mutated(base, random);
  return { parser: sample.parser, bytes, more: mutatedMore(moreFor(sample, bytes, random), sample, random) };
}

function mutatedMore(more: string, sample: Sample, random: Random): string {
  if (sample.parser !== "count" || more === "" || random.chance(0.8)) return more;
  return mutated(Buffer.from(more), random).toString("utf8");
}
