/** Reads certificate files that another program renews. Polls, because file watches miss the symlink swap of mounted Secrets. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type PemBlock, parsePemBlocks, readPair, type ServerCertificate } from "../../authority/certificate.ts";
import { Fault } from "../../fault.ts";
import { type CertificateSource, certificateSource } from "./source.ts";

export type ExternalPair = ServerCertificate & {
  /** All certificates of `ca.crt`; every caBundle contains them. */
  readonly cas: readonly PemBlock[];
  /** The CAs of `ca.crt` that issued the pair's certificate; a client has to trust one of them. */
  readonly issuers: readonly PemBlock[];
};

export async function certificateFromFiles(certFile: string, keyFile: string): Promise<CertificateSource> {
  const read = (): Promise<ServerCertificate> =>
    readFiles([certFile, keyFile], ([cert = "", key = ""]) => readPair(cert, key));
  let current = await read();
  return certificateSource({
    current: () => current,
    update: async () => {
      const renewed = await read();
      if (renewed.cert !== current.cert) current = renewed;
    },
  });
}

/**
 * Reads the pair and the `ca.crt` in the same directory.
 *
 * @throws Fault ERR_CERTIFICATE_UNREADABLE when a file is missing or the files do not match, which also happens while a mounted
 * Secret changes
 */
export function readExternalPair(certFile: string, keyFile: string): Promise<ExternalPair> {
  const caFile = join(dirname(certFile), "ca.crt");
  return readFiles([certFile, keyFile, caFile], ([cert = "", key = "", ca = ""]) => {
    const cas = parsePemBlocks(ca).blocks;
    const issuers = issuersOf(cert, cas);
    if (issuers.length === 0) throw new Error(`${caFile} does not contain a CA that issued the certificate`);
    return { ...readPair(cert, key), cas, issuers };
  });
}

async function readFiles<T>(files: readonly string[], read: (texts: readonly string[]) => T): Promise<T> {
  try {
    return read(await Promise.all(files.map((file) => readFile(file, "utf8"))));
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    const fileNames = `${files.slice(0, -1).join(", ")} and ${files.at(-1)}`;
    throw new Fault("ERR_CERTIFICATE_UNREADABLE", `${fileNames}: ${detail}`, error);
  }
}

function issuersOf(chain: string, cas: readonly PemBlock[]): readonly PemBlock[] {
  const lastBlock = parsePemBlocks(chain).blocks.at(-1);
  if (lastBlock === undefined) throw new Error("the file of --cert does not contain a certificate");
  const lastCertificate = new X509Certificate(lastBlock.cert);
  return cas.filter(({ id, cert }) => {
    if (id === lastBlock.id) return true;
    const ca = new X509Certificate(cert);
    return lastCertificate.checkIssued(ca) && lastCertificate.verify(ca.publicKey);
  });
}
