/** A CA and a leaf that exist in the memory of this process only. For trying out, tests and the demo. */
import type { ServerCertificate } from "../../certificates/server-pair.ts";
import { type Issuer, makeCaPair, makeServerPair, type Validity } from "../../certificates/signing.ts";
import { type CertificateSource, complaintAbout } from "./source.ts";

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

/** `nowMs` is wall-clock time. */
export async function makeCertificate(namespace: string, nowMs: number): Promise<SelfMade> {
  const ca = await makeCaPair("lastcall CA", lifeFrom(nowMs, CA_LIFE_MS));
  let current = await makeLeaf(ca, namespace, nowMs);
  const source: CertificateSource = {
    current: () => current,
    complaint: (atMs) => complaintAbout(current, atMs),
    refresh: async (atMs) => {
      if (atMs < current.validUntilMs - RENEW_BEFORE_MS) return { kind: "same" };
      current = await makeLeaf(ca, namespace, atMs);
      return { kind: "changed" };
    },
  };
  return { source, caCertificate: ca.cert };
}

function makeLeaf(issuer: Issuer, namespace: string, nowMs: number): Promise<ServerCertificate> {
  const names = { dns: [`lastcall.${namespace}.svc`, "localhost"], ip: ["127.0.0.1", "::1"] };
  return makeServerPair(issuer, names, lifeFrom(nowMs, LEAF_LIFE_MS));
}

function lifeFrom(nowMs: number, lifeMs: number): Validity {
  return { fromMs: nowMs - BACKDATE_MS, untilMs: nowMs + lifeMs };
}
