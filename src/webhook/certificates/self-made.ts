/** A CA and a leaf in the memory of one process. For trials, tests and the demo. */
import type { ServerCertificate } from "../../authority/certificate.ts";
import { certificateTools } from "../../authority/signing.ts";
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

/** `nowMs` is wall-clock time. */
export async function makeCertificate(namespace: string, nowMs: number): Promise<SelfMade> {
  const names = { dns: [`lastcall.${namespace}.svc`, "localhost"], ip: ["127.0.0.1", "::1"] };
  const tools = certificateTools("lastcall CA", names);
  const signer = await tools.makeCa({ nowMs, lifeMs: CA_LIFE_MS });
  const newLeaf = (atMs: number): Promise<ServerCertificate> =>
    tools.makeLeaf({ signer, validUntilMs: atMs + LEAF_LIFE_MS });
  let current = await newLeaf(nowMs);
  const source: CertificateSource = {
    current: () => current,
    complaint: (atMs) => complaintAbout(current, atMs),
    refresh: async (atMs) => {
      if (atMs < current.validUntilMs - RENEW_BEFORE_MS) return { kind: "same" };
      current = await newLeaf(atMs);
      return { kind: "changed" };
    },
  };
  return { source, caCertificate: signer.cert };
}
