/** Where the token of a newly injected Pod comes from. */
import { createHash } from "node:crypto";
import type { Randomness } from "../injection/inject.ts";
import type { PodPlace } from "../kubernetes/pod-template.ts";

/** A manager reads 32 hexadecimal characters. */
const TOKEN_CHARACTERS = 32;

/**
 * With a seed the same workload gets the same token every time, so that generated manifests can be compared and kept
 * in Git. Anyone who knows the seed knows the tokens.
 */
export function tokensFor(
  place: PodPlace,
  namespace: string,
  seed: string | undefined,
  randomToken: () => string,
): Randomness {
  if (seed === undefined) return { newToken: randomToken };
  const [kind = "", name = ""] = place.owner.split("/");
  const text = `${seed}${kind}/${namespace}/${name}${place.template === "" ? "" : `/${place.template}`}`;
  return { newToken: () => createHash("sha256").update(text).digest("hex").slice(0, TOKEN_CHARACTERS) };
}
