/** Reads PEM text: lastcall's CAs, caBundles, and key pairs of TLS servers. Times are wall-clock milliseconds. */
import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";

export type Ca = {
  /** The DER in base64, which does not depend on the formatting of the PEM text. */
  readonly id: string;
  readonly cert: string;
  readonly validFromMs: number;
  readonly validUntilMs: number;
};

export type SigningCa = Ca & { readonly key: string };

export type ServerCertificate = {
  readonly cert: string;
  readonly key: string;
  readonly validFromMs: number;
  readonly validUntilMs: number;
};

export type CaReader = {
  /** `defect` is the predicate of a sentence whose subject is the certificate's file or entry, such as "is missing". */
  readonly readCa: (cert: string) => { readonly ca: Ca } | { readonly defect: string };
  readonly isKeyOf: (ca: Ca, key: string) => boolean;
};

const FINGERPRINT_CHARACTERS = 16;

export function isValidAt(ca: Pick<Ca, "validFromMs" | "validUntilMs">, wallMs: number): boolean {
  return ca.validFromMs <= wallMs && wallMs < ca.validUntilMs;
}

/** The first 16 hexadecimal characters of the SHA-256 fingerprint. */
export function fingerprintOf({ id }: Pick<Ca, "id">): string {
  return createHash("sha256").update(Buffer.from(id, "base64")).digest("hex").slice(0, FINGERPRINT_CHARACTERS);
}

export function createCaReader(name: string): CaReader {
  const subject = new RegExp(`^CN=${name} [0-9a-f]{16}$`);
  return {
    readCa: (cert) => {
      const id = pemId(cert);
      if (id === undefined) return { defect: cert === "" ? "is missing" : "is not one PEM certificate" };
      const certificate = parseCertificate(cert);
      if (certificate === undefined) return { defect: "cannot be decoded" };
      if (!certificate.ca) return { defect: "is not a CA" };
      if (!subject.test(certificate.subject))
        return { defect: `has the subject "${certificate.subject.slice(0, 80)}" and was not made by lastcall` };
      if (!certificate.verify(certificate.publicKey)) return { defect: "is not self-signed" };
      return {
        ca: { id, cert, validFromMs: Date.parse(certificate.validFrom), validUntilMs: Date.parse(certificate.validTo) },
      };
    },
    isKeyOf: (ca, key) => {
      try {
        return new X509Certificate(ca.cert).checkPrivateKey(createPrivateKey(key));
      } catch {
        return false;
      }
    },
  };
}

/** @throws Error if a text is not PEM, the chain is broken, or the key belongs to another certificate */
export function readPair(cert: string, key: string): ServerCertificate {
  const leaf = new X509Certificate(cert);
  if (!leaf.checkPrivateKey(createPrivateKey(key))) throw new Error("the key belongs to another certificate");
  // Checks the rest of the chain, because X509Certificate reads only the first certificate.
  createSecureContext({ cert, key });
  return { cert, key, validFromMs: Date.parse(leaf.validFrom), validUntilMs: Date.parse(leaf.validTo) };
}

function parseCertificate(cert: string): X509Certificate | undefined {
  try {
    return new X509Certificate(cert);
  } catch {
    return undefined;
  }
}

export type PemBlock = { readonly id: string; readonly cert: string };

type PemBlocks = {
  readonly blocks: readonly PemBlock[];
  readonly hasOtherText: boolean;
};

const BLOCK = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE-----/g;

export function parsePemBlocks(text: string): PemBlocks {
  const blocks = [...text.matchAll(BLOCK)].map((match) => ({ id: idOf(match[1] ?? ""), cert: `${match[0]}\n` }));
  return { blocks, hasOtherText: text.replaceAll(BLOCK, "").trim() !== "" };
}

/** `undefined` unless the text is exactly one certificate. */
export function pemId(text: string): string | undefined {
  const { blocks, hasOtherText } = parsePemBlocks(text);
  const [first, ...others] = blocks;
  return hasOtherText || others.length > 0 || first?.id === "" ? undefined : first?.id;
}

export function containsExactly(text: string, expected: readonly Pick<PemBlock, "id">[]): boolean {
  const { blocks, hasOtherText } = parsePemBlocks(text);
  const foundIds = new Set(blocks.map((block) => block.id));
  const expectedIds = new Set(expected.map((ca) => ca.id));
  return !hasOtherText && foundIds.size === expectedIds.size && [...expectedIds].every((id) => foundIds.has(id));
}

export function containsCertificate(text: string, ca: Pick<PemBlock, "id">): boolean {
  return parsePemBlocks(text).blocks.some((block) => block.id === ca.id);
}

export function bundleText(cas: readonly Pick<PemBlock, "cert">[]): string {
  return cas.map((ca) => `${ca.cert.trim()}\n`).join("");
}

function idOf(body: string): string {
  return body.replaceAll(/\s/g, "");
}
