/** A part of what `npm run test:fuzz` tries; a failure says the seed that repeats it. */
import { describe, expect, test } from "vitest";
import { createRandom, seedOf } from "../manager/fuzz/seeded-random.ts";
import { readChangedCredentials } from "./credentials.ts";
import { DOCUMENT_KINDS, readDamaged } from "./documents.ts";

const COUNT = 3_000;
const seed = Math.floor(Math.random() * 0xffffffff);

describe(`with seed ${seed}`, () => {
  test.for(DOCUMENT_KINDS)(
    `${COUNT} damaged documents of the kind $name are taken for what they are, or refused`,
    async (kind) => {
      const taken = await readDamaged(kind, COUNT, createRandom(seedOf(seed, kind.name)));
      // Damage that every reader notices at once tries nothing behind it.
      expect(taken).toBeGreaterThan(COUNT / 50);
      expect(taken).toBeLessThan(COUNT);
    },
  );

  test(`of ${COUNT} changed credentials none is believed`, () => {
    const { refused, unchanged } = readChangedCredentials(COUNT, createRandom(seedOf(seed, "credentials")));
    expect(refused).toBeGreaterThan(COUNT / 2);
    expect(refused + unchanged).toBe(COUNT);
  });
});
