/** The port behind which the server's certificate comes from somewhere. */
import type { ServerCertificate } from "../../authority/certificate.ts";
import type { Fault } from "../../fault.ts";

export type Refreshed =
  | { readonly kind: "same" }
  | { readonly kind: "changed" }
  /** The one in use stays. */
  | { readonly kind: "unusable"; readonly fault: Fault };

export type CertificateSource = {
  readonly current: () => ServerCertificate;
  /** Looks whether there is a newer one; called from time to time by the owner of the clock. */
  readonly refresh: (nowMs: number) => Promise<Refreshed>;
  /** Why clients would not accept the current one; empty when they would. */
  readonly complaint: (nowMs: number) => string;
  /** Lets go of what would keep the process: a question to a silent API server has seconds to go. */
  readonly close?: () => void;
};

/** Why clients would not accept the certificate now; empty when they would. */
export function complaintAbout(certificate: ServerCertificate, nowMs: number): string {
  if (nowMs < certificate.validFromMs) return "the certificate is not valid yet";
  return nowMs < certificate.validUntilMs ? "" : "the certificate has expired";
}
