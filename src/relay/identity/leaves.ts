/** This replica's certificates, one per CA generation, in memory only. */
import { createSecureContext, type SecureContext } from "node:tls";
import { isValidAt, type SigningCa } from "../../authority/certificate.ts";
import { makeLeaf as signLeaf } from "../../authority/signing.ts";
import type { RelayIdentity } from "./identity.ts";
import { serverNameOf } from "./server-name.ts";

const LEAF_LIFE_MS = 7 * 86_400_000;
/** Clients that still speak TLS 1.1 are no manager. */
const TLS_MINIMUM = { minVersion: "TLSv1.2" } as const;

type Leaf = { readonly context: SecureContext; readonly madeMs: number; readonly validUntilMs: number };

export type Leaves = {
  /** Makes what is missing, renews what is past half its life, and forgets what is served no more. */
  readonly keepUp: (identity: RelayIdentity, wallMs: number) => Promise<void>;
  readonly contextOf: (serverName: string) => SecureContext | undefined;
};

export function createLeaves(): Leaves {
  let leaves: ReadonlyMap<string, Leaf> = new Map();
  return {
    keepUp: async (identity, wallMs) => {
      const served = identity.generations.filter((generation) => isValidAt(generation, wallMs));
      const kept = new Map<string, Leaf>();
      for (const generation of served) {
        const standing = leaves.get(serverNameOf(generation));
        kept.set(serverNameOf(generation), isGood(standing, wallMs) ? standing : await makeLeaf(generation, wallMs));
      }
      leaves = kept;
    },
    contextOf: (serverName) => leaves.get(serverName)?.context,
  };
}

/** Also renewed when the clock went back before it was made. */
function isGood(leaf: Leaf | undefined, wallMs: number): leaf is Leaf {
  return leaf !== undefined && wallMs >= leaf.madeMs && wallMs < (leaf.madeMs + leaf.validUntilMs) / 2;
}

async function makeLeaf(generation: SigningCa, wallMs: number): Promise<Leaf> {
  const validUntilMs = Math.min(wallMs + LEAF_LIFE_MS, generation.validUntilMs);
  const names = { dns: [serverNameOf(generation)] };
  const pair = await signLeaf(generation, names, validUntilMs);
  const context = createSecureContext({ cert: pair.cert, key: pair.key, ...TLS_MINIMUM });
  return { context, madeMs: wallMs, validUntilMs };
}
