/** Derives the token of a workload from its name, so that a manifest is injected the same way in every run. */
import { createHmac } from "node:crypto";

/** A manager reads 32 hexadecimal characters. */
const TOKEN_CHARACTERS = 32;

/** The key where no --token-seed is set. It is public: see "With a token from a manifest" in SECURITY.md. */
export const PUBLIC_SEED = "lastcall";

type WorkloadIdentity = {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  /** The path of its Pod template where the object has several, else empty. */
  readonly template: string;
};

/** HMAC-SHA256, cut to the length of a token. */
export function deriveToken(seed: string, { namespace, kind, name, template }: WorkloadIdentity): string {
  const identity = JSON.stringify([namespace, kind, name, template]);
  return createHmac("sha256", seed).update(identity).digest("hex").slice(0, TOKEN_CHARACTERS);
}
