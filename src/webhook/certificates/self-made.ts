/** Creates a CA and a leaf in memory, for trials, tests and the demo. */
import { createLeaves } from "../../authority/leaves.ts";
import { createCertificateTools } from "../../authority/signing.ts";
import { type CertificateSource, certificateSource } from "./source.ts";

export type SelfMadeCertificate = {
  readonly source: CertificateSource;
  readonly caCertificate: string;
};

const DAY_MS = 86_400_000;
const LEAF_OPTIONS = { lifeMs: 90 * DAY_MS, renewAfterFraction: 2 / 3 };

export async function makeCertificate(namespace: string, nowMs: number): Promise<SelfMadeCertificate> {
  const name = `lastcall.${namespace}.svc`;
  const names = { dns: [name, "localhost"], ip: ["127.0.0.1", "::1"] };
  const ca = await createCertificateTools("lastcall CA", names).makeCa({ nowMs, lifeMs: 3_650 * DAY_MS });
  const leaves = createLeaves({ ...LEAF_OPTIONS, namesOf: () => names, prepare: (pair) => pair });
  await leaves.update([ca], nowMs);
  const source = certificateSource({ current: () => leaves.leafOf(name), update: (atMs) => leaves.update([ca], atMs) });
  return { source, caCertificate: ca.cert };
}
