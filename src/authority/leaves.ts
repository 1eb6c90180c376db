/** Keeps one serving certificate per CA in memory: makes missing ones, renews due ones, and drops those of other CAs. */
import { isValidAt, type ServerCertificate, type SigningCa } from "./certificate.ts";
import { makeLeaf, type ServerNames } from "./signing.ts";

export type LeafParts<T> = {
  readonly lifeMs: number;
  /** The share of its life after which a leaf is renewed. */
  readonly renewAfter: number;
  readonly namesOf: (ca: SigningCa) => ServerNames;
  /** Makes the value that is kept of each pair. */
  readonly prepare: (pair: ServerCertificate) => T;
};

type Leaves<T> = {
  readonly update: (cas: readonly SigningCa[], wallMs: number) => Promise<void>;
  /** By the first of its names. */
  readonly leafOf: (name: string) => T | undefined;
};

type Leaf<T> = { readonly prepared: T; readonly madeMs: number; readonly renewMs: number };

export function createLeaves<T>({ lifeMs, renewAfter, namesOf, prepare }: LeafParts<T>): Leaves<T> {
  let leaves: ReadonlyMap<string, Leaf<T>> = new Map();

  const newLeaf = async (ca: SigningCa, names: ServerNames, wallMs: number): Promise<Leaf<T>> => {
    const validUntilMs = Math.min(wallMs + lifeMs, ca.validUntilMs);
    const prepared = prepare(await makeLeaf(ca, names, validUntilMs));
    return { prepared, madeMs: wallMs, renewMs: wallMs + (validUntilMs - wallMs) * renewAfter };
  };

  return {
    update: async (cas, wallMs) => {
      const kept = new Map<string, Leaf<T>>();
      for (const ca of cas.filter((each) => isValidAt(each, wallMs))) {
        const names = namesOf(ca);
        const [name = ""] = names.dns;
        const existing = leaves.get(name);
        // A clock that went back to before it was made would keep it for too long.
        const isGood = existing !== undefined && wallMs >= existing.madeMs && wallMs < existing.renewMs;
        kept.set(name, isGood ? existing : await newLeaf(ca, names, wallMs));
      }
      leaves = kept;
    },
    leafOf: (name) => leaves.get(name)?.prepared,
  };
}
