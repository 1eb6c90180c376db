/** Caches one server certificate per CA in memory: creates missing leaves, renews old leaves, and drops leaves of removed CAs. */
import { isValidAt, type ServerCertificate, type SigningCa } from "./certificate.ts";
import { makeLeaf, type ServerNames } from "./signing.ts";

export type LeafOptions<T> = {
  readonly lifeMs: number;
  readonly renewAfterFraction: number;
  readonly namesOf: (ca: SigningCa) => ServerNames;
  readonly prepare: (pair: ServerCertificate) => T;
};

type Leaves<T> = {
  readonly update: (cas: readonly SigningCa[], wallMs: number) => Promise<void>;
  readonly leafOf: (name: string) => T | undefined;
};

type Leaf<T> = { readonly prepared: T; readonly createdMs: number; readonly renewMs: number };

export function createLeaves<T>({ lifeMs, renewAfterFraction, namesOf, prepare }: LeafOptions<T>): Leaves<T> {
  let leaves: ReadonlyMap<string, Leaf<T>> = new Map();

  const createLeaf = async (ca: SigningCa, names: ServerNames, wallMs: number): Promise<Leaf<T>> => {
    const validUntilMs = Math.min(wallMs + lifeMs, ca.validUntilMs);
    const prepared = prepare(await makeLeaf(ca, names, validUntilMs));
    return { prepared, createdMs: wallMs, renewMs: wallMs + (validUntilMs - wallMs) * renewAfterFraction };
  };

  return {
    update: async (cas, wallMs) => {
      const nextLeaves = new Map<string, Leaf<T>>();
      for (const ca of cas.filter((candidate) => isValidAt(candidate, wallMs))) {
        const names = namesOf(ca);
        const [name = ""] = names.dns;
        const existingLeaf = leaves.get(name);
        // If the clock was set back, a leaf created in the future would be renewed too late.
        const isCurrent =
          existingLeaf !== undefined && wallMs >= existingLeaf.createdMs && wallMs < existingLeaf.renewMs;
        nextLeaves.set(name, isCurrent ? existingLeaf : await createLeaf(ca, names, wallMs));
      }
      leaves = nextLeaves;
    },
    leafOf: (name) => leaves.get(name)?.prepared,
  };
}
