/** A CA and a leaf that exist in the memory of this process only. For trying out, tests and the demo. */
import { generate } from "selfsigned";
import { type CertificateSource, readPair, type ServerCertificate } from "./source.ts";

export type SelfMade = {
  readonly source: CertificateSource;
  /** PEM of the public CA certificate, for clients. */
  readonly caCertificate: string;
};

const DAY_MS = 86_400_000;
const CA_LIFE_MS = 3_650 * DAY_MS;
const LEAF_LIFE_MS = 90 * DAY_MS;
/** Renewed when a third of its life is left. */
const RENEW_BEFORE_MS = 30 * DAY_MS;
/** Clocks of nodes differ; a certificate from the future is refused. */
const BACKDATE_MS = 3_600_000;

/** EC P-256 with SHA-256: the API server refuses SHA-1, the package's default. `nowMs` is wall-clock time. */
export async function makeCertificate(namespace: string, nowMs: number): Promise<SelfMade> {
  const ca = await generate([{ name: "commonName", value: "lastcall CA" }], {
    ...KEY,
    ...lifeFrom(nowMs, CA_LIFE_MS),
    extensions: [
      { name: "basicConstraints", cA: true, pathLenConstraint: 0, critical: true },
      { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const issuer = { cert: ca.cert, key: ca.private };
  let current = await makeLeaf(issuer, namespace, nowMs);
  const source: CertificateSource = {
    current: () => current,
    refresh: async (atMs) => {
      if (atMs < current.validUntilMs - RENEW_BEFORE_MS) return { kind: "same" };
      current = await makeLeaf(issuer, namespace, atMs);
      return { kind: "changed" };
    },
  };
  return { source, caCertificate: ca.cert };
}

const KEY = { keyType: "ec", curve: "P-256", algorithm: "sha256" } as const;

type Issuer = { readonly cert: string; readonly key: string };

async function makeLeaf(issuer: Issuer, namespace: string, nowMs: number): Promise<ServerCertificate> {
  const service = `lastcall.${namespace}.svc`;
  const leaf = await generate([{ name: "commonName", value: service }], {
    ...KEY,
    ...lifeFrom(nowMs, LEAF_LIFE_MS),
    ca: issuer,
    extensions: [
      { name: "basicConstraints", cA: false, critical: true },
      { name: "keyUsage", digitalSignature: true, critical: true },
      { name: "extKeyUsage", serverAuth: true },
      {
        name: "subjectAltName",
        altNames: [
          { type: 2, value: "localhost" },
          { type: 2, value: service },
          { type: 7, ip: "127.0.0.1" },
          { type: 7, ip: "::1" },
        ],
      },
    ],
  });
  return readPair(leaf.cert, leaf.private);
}

function lifeFrom(nowMs: number, lifeMs: number): { readonly notBeforeDate: Date; readonly notAfterDate: Date } {
  return { notBeforeDate: new Date(nowMs - BACKDATE_MS), notAfterDate: new Date(nowMs + lifeMs) };
}
