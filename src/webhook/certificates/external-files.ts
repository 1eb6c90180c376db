/** Reads certificate files that another program renews. Mounted Secrets change by swapped links, which no watch reports reliably. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type PemBlock, pemBlocks, readPair, type ServerCertificate } from "../../authority/certificate.ts";
import { Fault } from "../../fault.ts";
import { type CertificateSource, certificateSource } from "./source.ts";

export type ExternalPair = ServerCertificate & {
  /** What is published for clients: every certificate of `ca.crt`. */
  readonly cas: readonly PemBlock[];
  /** Those of them that issued the pair: without one of these a client refuses it. */
  readonly issuers: readonly PemBlock[];
};

/** @throws Fault ERR_CERTIFICATE_UNREADABLE when the files are unusable at the start. */
export async function certificateFromFiles(certFile: string, keyFile: string): Promise<CertificateSource> {
  const read = (): Promise<ServerCertificate> =>
    readFiles([certFile, keyFile], ([cert = "", key = ""]) => readPair(cert, key));
  let current = await read();
  return certificateSource({
    current: () => current,
    update: async () => {
      const found = await read();
      if (found.cert !== current.cert) current = found;
    },
  });
}

/**
 * Reads the pair and the `ca.crt` of the same folder.
 *
 * @throws Fault ERR_CERTIFICATE_UNREADABLE when a file is missing or they do not belong together, also while a mounted
 * Secret changes
 */
export function readExternalPair(certFile: string, keyFile: string): Promise<ExternalPair> {
  const caFile = join(dirname(certFile), "ca.crt");
  return readFiles([certFile, keyFile, caFile], ([cert = "", key = "", ca = ""]) => {
    const cas = pemBlocks(ca).blocks;
    const issuers = issuersOf(cert, cas);
    if (issuers.length === 0) throw new Error(`${caFile} holds no CA that issued the certificate`);
    return { ...readPair(cert, key), cas, issuers };
  });
}

async function readFiles<T>(files: readonly string[], read: (texts: readonly string[]) => T): Promise<T> {
  try {
    return read(await Promise.all(files.map((file) => readFile(file, "utf8"))));
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    const names = `${files.slice(0, -1).join(", ")} and ${files.at(-1)}`;
    throw new Fault("ERR_CERTIFICATE_UNREADABLE", `${names}: ${detail}`, error);
  }
}

/** The last certificate of the chain is the one a CA has to have issued. */
function issuersOf(chain: string, cas: readonly PemBlock[]): readonly PemBlock[] {
  const last = pemBlocks(chain).blocks.at(-1);
  if (last === undefined) throw new Error("there is no certificate in it");
  const issued = new X509Certificate(last.cert);
  return cas.filter(({ id, cert }) => {
    if (id === last.id) return true;
    const ca = new X509Certificate(cert);
    return issued.checkIssued(ca) && issued.verify(ca.publicKey);
  });
}
