/** The port behind which the server's certificate comes from somewhere. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { Fault } from "../../fault.ts";

/** What TLS needs, as PEM text; times are wall-clock milliseconds. */
export type ServerCertificate = {
  readonly cert: string;
  readonly key: string;
  readonly validFromMs: number;
  readonly validUntilMs: number;
};

export type Refreshed =
  | { readonly kind: "same" }
  | { readonly kind: "changed" }
  /** The one in use stays. */
  | { readonly kind: "unusable"; readonly fault: Fault };

export type CertificateSource = {
  readonly current: () => ServerCertificate;
  /** Looks whether there is a newer one; called from time to time by whoever owns the clock. */
  readonly refresh: (nowMs: number) => Promise<Refreshed>;
  /** Why clients would not accept the current one; empty when they would. */
  readonly complaint: (nowMs: number) => string;
  /** Lets go of what would keep the process: a question to a silent API server has seconds to go. */
  readonly close?: () => void;
};

/** @throws Error when TLS cannot use the texts: not PEM, a broken chain, or the key of another certificate. */
export function readPair(cert: string, key: string): ServerCertificate {
  const leaf = new X509Certificate(cert);
  if (!leaf.checkPrivateKey(createPrivateKey(key))) throw new Error("the key belongs to another certificate");
  // Only the first certificate was read so far; what the server could not take must not pass for renewed.
  createSecureContext({ cert, key });
  return { cert, key, validFromMs: Date.parse(leaf.validFrom), validUntilMs: Date.parse(leaf.validTo) };
}

/** Why clients would not accept the certificate now; empty when they would. */
export function complaintAbout(certificate: ServerCertificate, nowMs: number): string {
  if (nowMs < certificate.validFromMs) return "the certificate is not valid yet";
  return nowMs < certificate.validUntilMs ? "" : "the certificate has expired";
}
