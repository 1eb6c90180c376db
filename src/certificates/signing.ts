/** Makes certificates: EC P-256 with SHA-256, because the API server refuses SHA-1, the package's default. */
import { generate } from "selfsigned";
import { readPair, type ServerCertificate } from "./server-pair.ts";

export type Issuer = { readonly cert: string; readonly key: string };

/** Wall-clock milliseconds. */
export type Validity = { readonly fromMs: number; readonly untilMs: number };

/** Who a server is: DNS names, and addresses where clients use them. */
export type ServerNames = { readonly dns: readonly string[]; readonly ip?: readonly string[] };

const KEY = { keyType: "ec", curve: "P-256", algorithm: "sha256" } as const;

/**
 * A CA that may sign servers and nothing else. `name` must differ between CAs: without key identifiers a client tells
 * them apart by their subject only.
 */
export async function makeCaPair(name: string, validity: Validity): Promise<Issuer> {
  const made = await generate([{ name: "commonName", value: name }], {
    ...KEY,
    ...datesOf(validity),
    extensions: [
      { name: "basicConstraints", cA: true, pathLenConstraint: 0, critical: true },
      { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return { cert: made.cert, key: made.private };
}

/** The first DNS name is also the subject, which X.509 limits to 64 characters. */
export async function makeServerPair(
  issuer: Issuer,
  names: ServerNames,
  validity: Validity,
): Promise<ServerCertificate> {
  const subject = names.dns.find((name) => name.length <= SUBJECT_LIMIT) ?? "lastcall";
  const made = await generate([{ name: "commonName", value: subject }], {
    ...KEY,
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
  return readPair(made.cert, made.private);
}

const SUBJECT_LIMIT = 64;

/** Every name by which something in a cluster may call a Service. */
export function serviceNames(service: string, namespace: string): readonly string[] {
  const full = `${service}.${namespace}.svc`;
  return [full, `${full}.cluster.local`, `${service}.${namespace}`, service];
}

function datesOf(validity: Validity): { readonly notBeforeDate: Date; readonly notAfterDate: Date } {
  return { notBeforeDate: new Date(validity.fromMs), notAfterDate: new Date(validity.untilMs) };
}
