/** Checks client certificates per request, not in the handshake: probes and Prometheus have none. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { Fault } from "../../fault.ts";

/** TLS options that request a certificate and accept a connection without one. */
export function clientCertificateOptions(clientCa: string): {
  readonly requestCert: boolean;
  readonly rejectUnauthorized: boolean;
} {
  return { requestCert: clientCa !== "", rejectUnauthorized: false };
}

/** Whether TLS verified a certificate of the client; for a resumed session, TLS did so when the session was created. */
export function hasClientCertificate(socket: Socket): boolean {
  return socket instanceof TLSSocket && socket.authorized;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/**
 * Reads and checks the file of `--client-ca`, because TLS accepts a file without a certificate as an empty list of CAs.
 *
 * @returns "" if the flag is not set
 * @throws Fault ERR_CERTIFICATE_UNREADABLE if the file cannot be read, or if it does not contain certificates of CAs only
 */
export async function readClientCa(file: string): Promise<string> {
  if (file === "") return "";
  try {
    const text = await readFile(file, "utf8");
    const certificates = text.match(CERTIFICATE) ?? [];
    if (certificates.length === 0) throw new Error("does not contain a certificate");
    for (const pem of certificates) {
      if (!new X509Certificate(pem).ca) throw new Error("contains a certificate that is not a CA");
    }
    return certificates.join("\n");
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new Fault("ERR_CERTIFICATE_UNREADABLE", `--client-ca ${file}: ${detail}`, error);
  }
}
