/** A certificate from two mounted files, looked at again and again: mounted Secrets change by swapped links, which no watch reports reliably. */
import { readFile } from "node:fs/promises";
import { readPair, type ServerCertificate } from "../../authority/certificate.ts";
import { Fault } from "../../fault.ts";
import { type CertificateSource, complaintAbout } from "./source.ts";

/** @throws Fault ERR_CERTIFICATE_UNREADABLE when the files are unusable at the start. */
export async function certificateFromFiles(certFile: string, keyFile: string): Promise<CertificateSource> {
  let current = await readFiles(certFile, keyFile);
  return {
    current: () => current,
    complaint: (nowMs) => complaintAbout(current, nowMs),
    refresh: async () => {
      try {
        const found = await readFiles(certFile, keyFile);
        if (found.cert === current.cert) return { kind: "same" };
        current = found;
        return { kind: "changed" };
      } catch (error) {
        // Half of a pair may be there already; the next look finds both.
        return { kind: "unusable", fault: error instanceof Fault ? error : unreadable(certFile, keyFile, error) };
      }
    },
  };
}

async function readFiles(certFile: string, keyFile: string): Promise<ServerCertificate> {
  try {
    const [cert, key] = await Promise.all([readFile(certFile, "utf8"), readFile(keyFile, "utf8")]);
    return readPair(cert, key);
  } catch (error) {
    throw unreadable(certFile, keyFile, error);
  }
}

function unreadable(certFile: string, keyFile: string, cause: unknown): Fault {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new Fault("ERR_CERTIFICATE_UNREADABLE", `${certFile} and ${keyFile}: ${detail}`, cause);
}
