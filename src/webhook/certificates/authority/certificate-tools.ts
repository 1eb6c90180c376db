/** Reads and makes the authority's certificates with real cryptography. */
import { createPrivateKey, randomBytes, X509Certificate } from "node:crypto";
import type { ServerCertificate } from "../../../certificates/server-pair.ts";
import { makeCaPair, makeServerPair } from "../../../certificates/signing.ts";
import type { Ca, SigningCa } from "./authority.ts";
import { pemId } from "./pem-bundle.ts";
import type { CertificateReader } from "./secret-content.ts";

export type NewCa = {
  readonly nowMs: number;
  readonly lifeMs: number;
  /** Of the CA it follows. The new one is valid as early: whose clock was ahead when it was made then does not matter. */
  readonly validFromMs: number | undefined;
};

export type NewLeaf = { readonly signer: SigningCa; readonly validUntilMs: number };

export type CertificateTools = CertificateReader & {
  readonly makeCa: (ca: NewCa) => Promise<SigningCa>;
  readonly makeLeaf: (leaf: NewLeaf) => Promise<ServerCertificate>;
};

/** The subject is how ours are known, and differs from CA to CA. */
const SUBJECT = /^CN=lastcall CA [0-9a-f]{16}$/;
/** Clocks of nodes differ; a certificate from the future is refused. */
const BACKDATE_MS = 3_600_000;

/** `dnsNames` are the names by which the API server calls. */
export function certificateTools(dnsNames: readonly string[]): CertificateTools {
  return {
    readCa,
    keyFits,
    makeCa: async ({ nowMs, lifeMs, validFromMs }) => {
      const name = `lastcall CA ${randomBytes(8).toString("hex")}`;
      const fromMs = Math.min(nowMs - BACKDATE_MS, validFromMs ?? Number.POSITIVE_INFINITY);
      const made = await makeCaPair(name, { fromMs, untilMs: nowMs + lifeMs });
      const read = readCa(made.cert);
      if ("why" in read) throw new Error(`a CA that was just made ${read.why}`);
      return { ...read.ca, key: made.key };
    },
    makeLeaf: ({ signer, validUntilMs }) =>
      makeServerPair(signer, { dns: dnsNames }, { fromMs: signer.validFromMs, untilMs: validUntilMs }),
  };
}

function readCa(cert: string): { readonly ca: Ca } | { readonly why: string } {
  const id = pemId(cert);
  if (id === undefined) return { why: cert === "" ? "is missing" : "is not one PEM certificate" };
  const read = parsed(cert);
  if (read === undefined) return { why: "cannot be decoded" };
  if (!read.ca) return { why: "is not a CA" };
  if (!SUBJECT.test(read.subject))
    return { why: `has the subject "${read.subject.slice(0, 80)}" and was not made here` };
  if (!read.verify(read.publicKey)) return { why: "is not signed by itself" };
  return { ca: { id, cert, validFromMs: Date.parse(read.validFrom), validUntilMs: Date.parse(read.validTo) } };
}

function parsed(cert: string): X509Certificate | undefined {
  try {
    return new X509Certificate(cert);
  } catch {
    return undefined;
  }
}

function keyFits(ca: Ca, key: string): boolean {
  try {
    return new X509Certificate(ca.cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
