/** A certificate with its key, as a TLS server takes them. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";

/** What TLS needs, as PEM text; times are wall-clock milliseconds. */
export type ServerCertificate = {
  readonly cert: string;
  readonly key: string;
  readonly validFromMs: number;
  readonly validUntilMs: number;
};

/** @throws Error when TLS cannot use the texts: not PEM, a broken chain, or the key of another certificate. */
export function readPair(cert: string, key: string): ServerCertificate {
  const leaf = new X509Certificate(cert);
  if (!leaf.checkPrivateKey(createPrivateKey(key))) throw new Error("the key belongs to another certificate");
  // Only the first certificate was read so far; what the server could not take must not pass for renewed.
  createSecureContext({ cert, key });
  return { cert, key, validFromMs: Date.parse(leaf.validFrom), validUntilMs: Date.parse(leaf.validTo) };
}
