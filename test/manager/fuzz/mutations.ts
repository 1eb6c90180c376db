/** Damages valid input as an interrupted connection, another kernel, a hostile peer or faulty memory would. */
import type { Random } from "./seeded-random.ts";

type Mutation = (bytes: Buffer, random: Random) => Buffer;

/** Lengths and counters at the limits of integers. */
const ODD_NUMBERS = [0, 1, 3, 4, 15, 16, 17, 127, 128, 255, 256, 65_535, 65_536, 0x7fffffff, 0x80000000, 0xffffffff];
const ODD_VALUES = ["null", "0", "-1", "1.5", "1e400", "[]", "{}", '""', '"x"', "true", "[null]", '{"name":1}'];
const ODD_TEXTS = ["", "0", "-1", "99999999999999999999", "1e999", "\0", "\r\n", "\r\n\r\n", "%00", "é", "\u{1f600}"];

const flipBit: Mutation = (bytes, random) => {
  const copy = Buffer.from(bytes);
  const at = random.below(copy.length);
  copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
  return copy;
};

const overwriteByte: Mutation = (bytes, random) => {
  const copy = Buffer.from(bytes);
  copy[random.below(copy.length)] = random.below(256);
  return copy;
};

const truncate: Mutation = (bytes, random) => bytes.subarray(0, random.below(bytes.length));

const overwriteLength: Mutation = (bytes, random) => {
  const isFourBytes = random.chance(0.5) && bytes.length >= 4;
  const copy = Buffer.from(bytes);
  if (copy.length < 2) return copy;
  // Fields of the kernel's messages are aligned, so the offset is even. The first fields are lengths.
  const at = Math.min(copy.length - (isFourBytes ? 4 : 2), random.below(Math.ceil(copy.length / 2)) * 2);
  const value = random.pick(ODD_NUMBERS);
  if (isFourBytes) copy.writeUInt32LE(value, at);
  else copy.writeUInt16LE(value & 0xffff, at);
  return copy;
};

const repeatChunk: Mutation = (bytes, random) => {
  const from = random.below(bytes.length);
  const chunk = bytes.subarray(from, from + 1 + random.below(Math.min(64, bytes.length - from)));
  const times = 1 + random.below(random.chance(0.1) ? 200 : 4);
  return insert(bytes, random.below(bytes.length + 1), Buffer.concat(Array.from({ length: times }, () => chunk)));
};

const dropChunk: Mutation = (bytes, random) => {
  const from = random.below(bytes.length);
  const to = from + 1 + random.below(Math.min(64, bytes.length - from));
  return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
};

const insertBytes: Mutation = (bytes, random) => {
  const insertedBytes = Buffer.from(Array.from({ length: 1 + random.below(8) }, () => random.below(256)));
  return insert(bytes, random.below(bytes.length + 1), insertedBytes);
};

const insertText: Mutation = (bytes, random) =>
  insert(bytes, random.below(bytes.length + 1), Buffer.from(random.pick(ODD_TEXTS)));

/** Replaces a string or number of JSON by a value of another type. */
const replaceValue: Mutation = (bytes, random) => {
  const values = [...bytes.toString("latin1").matchAll(/"[^"]*"|[0-9]+|true|null/g)];
  if (values.length === 0) return bytes;
  const value = random.pick(values);
  const after = bytes.subarray(value.index + value[0].length);
  return Buffer.concat([bytes.subarray(0, value.index), Buffer.from(random.pick(ODD_VALUES)), after]);
};

const MUTATIONS = [
  flipBit,
  overwriteByte,
  truncate,
  overwriteLength,
  repeatChunk,
  dropChunk,
  insertBytes,
  insertText,
  replaceValue,
] as const;

/** Applies one to four random mutations. */
export function mutate(bytes: Buffer, random: Random): Buffer {
  let copy = bytes;
  for (let times = 1 + random.below(4); times > 0 && copy.length > 0; times -= 1)
    copy = random.pick(MUTATIONS)(copy, random);
  return copy;
}

/** Joins the start of one input and the end of another. */
export function splice(first: Buffer, second: Buffer, random: Random): Buffer {
  return Buffer.concat([
    first.subarray(0, random.below(first.length + 1)),
    second.subarray(random.below(second.length + 1)),
  ]);
}

function insert(bytes: Buffer, at: number, insertedBytes: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), insertedBytes, bytes.subarray(at)]);
}
