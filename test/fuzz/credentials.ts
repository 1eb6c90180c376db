/** Checks that a changed credential is accepted only if it equals a signed credential. */
import type { CredentialClaims } from "../../src/contract/relay-wire.ts";
import { mintCredential, readCredential } from "../../src/relay/identity/credential.ts";
import { mutate, splice } from "../manager/fuzz/mutations.ts";
import type { Random } from "../manager/fuzz/seeded-random.ts";
import { createFakeKey, START_MS } from "../relay/identity/fake-tools.ts";

const KEYS = [createFakeKey("one", START_MS), createFakeKey("other", START_MS)];
const CLAIMS: readonly CredentialClaims[] = ["shop", "kube-system", "a", "n".repeat(63)].map((namespace, index) => ({
  ...{ namespace, ownerKind: "ReplicaSet", ownerName: `web-${index}`, nonce: "0123456789abcdef" },
  ownerUid: "0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9",
}));
const SIGNED_CREDENTIALS = KEYS.flatMap((key) => CLAIMS.map((claims) => mintCredential(claims, key)));

export type ChangedCredentials = {
  readonly refusedCount: number;
  /** Number of credentials that equal the signed credential, because their changes cancelled each other out. */
  readonly unchangedCount: number;
};

/** @throws Error with the wrongly accepted text */
export function readChangedCredentials(count: number, random: Random): ChangedCredentials {
  let refusedCount = 0;
  for (let n = 0; n < count; n += 1) {
    const text = changeCredential(random);
    const claims = readCredential(text, (kid) => KEYS.find((key) => key.kid === kid));
    if (SIGNED_CREDENTIALS.includes(text)) {
      if (claims === undefined) throw new Error(`a signed credential is refused: ${text}`);
    } else if (claims !== undefined) throw new Error(`an unsigned credential is accepted: ${text}`);
    else refusedCount += 1;
  }
  return { refusedCount, unchangedCount: count - refusedCount };
}

const REPLACEMENTS = "ABCXYZabcxyz0189-_.=+/";

function changeCredential(random: Random): string {
  const text = random.pick(SIGNED_CREDENTIALS);
  const other = random.pick(SIGNED_CREDENTIALS);
  const parts = text.split(".");
  const otherParts = other.split(".");
  switch (random.below(6)) {
    case 0:
      return parts.map((part, index) => (random.chance(0.5) ? part : otherParts[index])).join(".");
    case 1:
      return parts.map((part) => (random.chance(0.3) ? `${part}=` : part)).join(".");
    case 2: {
      // Changed claims with the MAC of the original claims.
      const claims = mutate(Buffer.from(parts[1] ?? "", "base64url"), random).toString("base64url");
      return [parts[0], claims, parts[2]].join(".");
    }
    case 3: {
      const index = random.below(text.length);
      return text.slice(0, index) + random.pick([...REPLACEMENTS]) + text.slice(index + 1);
    }
    case 4:
      return splice(Buffer.from(text), Buffer.from(other), random).toString("latin1");
    default:
      return mutate(Buffer.from(text), random).toString("latin1");
  }
}
