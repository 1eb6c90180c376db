/** Derives the token of a workload from its name, so that every run injects the same token. */
import { createHmac } from "node:crypto";

/** The manager requires 32 hexadecimal characters. */
const TOKEN_CHARACTERS = 32;

/** Default of --token-seed. It is public: see "With a token from a manifest" in SECURITY.md. */
export const PUBLIC_SEED = "lastcall";

type WorkloadIdentity = {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  /** The path of the Pod template in an object with several templates, otherwise empty. */
  readonly template: string;
};

export function deriveToken(seed: string, { namespace, kind, name, template }: WorkloadIdentity): string {
  const identity = JSON.stringify([namespace, kind, name, template]);
  return createHmac("sha256", seed).update(identity).digest("hex").slice(0, TOKEN_CHARACTERS);
}
