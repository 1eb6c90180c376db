/** Changed credentials: none says anything, unless it is to the letter one that was signed. */
import type { CredentialClaims } from "../../src/contract/relay-wire.ts";
import { mintCredential, readCredential } from "../../src/relay/identity/credential.ts";
import { mutated, spliced } from "../manager/fuzz/mutations.ts";
import type { Random } from "../manager/fuzz/seeded-random.ts";
import { pretendKey, START_MS } from "../relay/identity/pretend-tools.ts";

const KEYS = [pretendKey("one", START_MS), pretendKey("other", START_MS)];
const CLAIMS: readonly CredentialClaims[] = ["shop", "kube-system", "a", "n".repeat(63)].map((namespace, at) => ({
  ...{ namespace, ownerKind: "ReplicaSet", ownerName: `web-${at}`, nonce: "0123456789abcdef" },
  ownerUid: "0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9",
}));
const SIGNED = KEYS.flatMap((key) => CLAIMS.map((claims) => mintCredential(claims, key)));

export type ChangedCredentials = {
  readonly refused: number;
  /** Damage that took itself back. */
  readonly unchanged: number;
};

/** @throws Error with the text that was believed */
export function readChangedCredentials(count: number, random: Random): ChangedCredentials {
  let refused = 0;
  for (let n = 0; n < count; n += 1) {
    const text = changed(random);
    const read = readCredential(text, (kid) => KEYS.find((key) => key.kid === kid));
    if (SIGNED.includes(text)) {
      if (read === undefined) throw new Error(`what was signed is refused: ${text}`);
    } else if (read !== undefined) throw new Error(`what was not signed is believed: ${text}`);
    else refused += 1;
  }
  return { refused, unchanged: count - refused };
}

const LETTERS = "ABCXYZabcxyz0189-_.=+/";

function changed(random: Random): string {
  const text = random.pick(SIGNED);
  const other = random.pick(SIGNED);
  const parts = text.split(".");
  const otherParts = other.split(".");
  switch (random.below(6)) {
    case 0:
      return parts.map((part, at) => (random.chance(0.5) ? part : otherParts[at])).join(".");
    case 1:
      return parts.map((part) => (random.chance(0.3) ? `${part}=` : part)).join(".");
    case 2: {
      // Other claims under a mac of the same key.
      const claims = mutated(Buffer.from(parts[1] ?? "", "base64url"), random).toString("base64url");
      return [parts[0], claims, parts[2]].join(".");
    }
    case 3: {
      const at = random.below(text.length);
      return text.slice(0, at) + random.pick([...LETTERS]) + text.slice(at + 1);
    }
    case 4:
      return spliced(Buffer.from(text), Buffer.from(other), random).toString("latin1");
    default:
      return mutated(Buffer.from(text), random).toString("latin1");
  }
}
