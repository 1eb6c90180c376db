/** Runs a part of `npm run test:fuzz` with the seed of the commit. */
import { describe, expect, inject, test } from "vitest";
import { createRandom, seedOf } from "../manager/fuzz/seeded-random.ts";
import { readChangedCredentials } from "./credentials.ts";
import { DOCUMENT_KINDS, readDamaged } from "./documents.ts";

const COUNT = 3_000;
const seed = inject("seed");

describe(`with seed ${seed}`, () => {
  test.for(DOCUMENT_KINDS)(
    `${COUNT} damaged documents of the kind $name are read correctly or refused`,
    async (kind) => {
      const acceptedCount = await readDamaged(kind, COUNT, createRandom(seedOf(seed, kind.name)));
      // The parser must accept some documents. Otherwise the test would not run the code that uses the parsed document.
      expect(acceptedCount).toBeGreaterThan(COUNT / 50);
      expect(acceptedCount).toBeLessThan(COUNT);
    },
  );

  test(`${COUNT} changed credentials are all refused`, () => {
    const { refusedCount, unchangedCount } = readChangedCredentials(COUNT, createRandom(seedOf(seed, "credentials")));
    expect(refusedCount).toBeGreaterThan(COUNT / 2);
    expect(refusedCount + unchangedCount).toBe(COUNT);
  });
});
