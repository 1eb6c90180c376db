/** Creates certificates with EC P-256 and SHA-256. The API server refuses SHA-1, which is the default of `selfsigned`. */
import { randomBytes } from "node:crypto";
import { generate } from "selfsigned";
import { type CaReader, createCaReader, readPair, type ServerCertificate, type SigningCa } from "./certificate.ts";

export type Issuer = { readonly cert: string; readonly key: string };

export type Validity = { readonly fromMs: number; readonly untilMs: number };

export type ServerNames = { readonly dns: readonly string[]; readonly ip?: readonly string[] };

export type NewCa = {
  readonly nowMs: number;
  readonly lifeMs: number;
  /** Start of the earliest trusted CA's validity. The new CA is valid from this time or earlier, even if this replica's clock is ahead. */
  readonly validFromMs?: number | undefined;
};

export type CertificateTools = CaReader & {
  readonly makeCa: (ca: NewCa) => Promise<SigningCa>;
  readonly makeLeaf: (leaf: {
    readonly signer: SigningCa;
    readonly validUntilMs: number;
  }) => Promise<ServerCertificate>;
};

/** Certificates start in the past, because clients with a slow clock would refuse a certificate that is not valid yet. */
const BACKDATE_MS = 3_600_000;

export function createCertificateTools(name: string, names: ServerNames): CertificateTools {
  const reader = createCaReader(name);
  return {
    ...reader,
    makeCa: async ({ nowMs, lifeMs, validFromMs }) => {
      const fromMs = Math.min(nowMs - BACKDATE_MS, validFromMs ?? Number.POSITIVE_INFINITY);
      const subject = `${name} ${randomBytes(8).toString("hex")}`;
      const pair = await makeCaPair(subject, { fromMs, untilMs: nowMs + lifeMs });
      const result = reader.readCa(pair.cert);
      if ("defect" in result) throw new Error(`the new CA ${result.defect}`);
      return { ...result.ca, key: pair.key };
    },
    makeLeaf: ({ signer, validUntilMs }) => makeLeaf(signer, names, validUntilMs),
  };
}

/** The leaf is valid from the same time as its CA, so that clients with a slow clock accept the leaf. */
export function makeLeaf(signer: SigningCa, names: ServerNames, validUntilMs: number): Promise<ServerCertificate> {
  return makeServerPair(signer, names, { fromMs: signer.validFromMs, untilMs: validUntilMs });
}

const KEY_OPTIONS = { keyType: "ec", curve: "P-256", algorithm: "sha256" } as const;

/** `name` must differ between CAs: without key identifiers, clients distinguish CAs only by their subject. */
export async function makeCaPair(name: string, validity: Validity): Promise<Issuer> {
  const generatedPair = await generate([{ name: "commonName", value: name }], {
    ...KEY_OPTIONS,
    ...datesOf(validity),
    extensions: [
      { name: "basicConstraints", cA: true, pathLenConstraint: 0, critical: true },
      { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return { cert: generatedPair.cert, key: generatedPair.private };
}

/** The subject, which X.509 limits to 64 characters, is the first DNS name that is short enough. */
export async function makeServerPair(
  issuer: Issuer,
  names: ServerNames,
  validity: Validity,
): Promise<ServerCertificate> {
  const subject = names.dns.find((name) => name.length <= SUBJECT_LIMIT) ?? "lastcall";
  const generated = await generate([{ name: "commonName", value: subject }], {
    ...KEY_OPTIONS,
    ...datesOf(validity),
    ca: { cert: issuer.cert, key: issuer.key },
    extensions: [
      { name: "basicConstraints", cA: false, critical: true },
      { name: "keyUsage", digitalSignature: true, critical: true },
      { name: "extKeyUsage", serverAuth: true },
      {
        name: "subjectAltName",
        altNames: [
          ...names.dns.map((value) => ({ type: 2 as const, value })),
          ...(names.ip ?? []).map((ip) => ({ type: 7 as const, ip })),
        ],
      },
    ],
  });
  return readPair(generated.cert, generated.private);
}

const SUBJECT_LIMIT = 64;

export function serviceNames(service: string, namespace: string): readonly string[] {
  const qualifiedName = `${service}.${namespace}.svc`;
  return [qualifiedName, `${qualifiedName}.cluster.local`, `${service}.${namespace}`, service];
}

function datesOf(validity: Validity): { readonly notBeforeDate: Date; readonly notAfterDate: Date } {
  return { notBeforeDate: new Date(validity.fromMs), notAfterDate: new Date(validity.untilMs) };
}
