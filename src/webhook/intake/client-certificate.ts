/** Reviews only from clients with a certificate of a given CA. Probes and Prometheus have none, so the handshake takes all. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { Fault } from "../../fault.ts";

/** What TLS is told; the CA is asked for again with every new server certificate. */
export function certificateRequest(clientCa: string): {
  readonly requestCert: boolean;
  readonly rejectUnauthorized: boolean;
} {
  return { requestCert: clientCa !== "", rejectUnauthorized: false };
}

/** TLS has checked it against the CA; of a resumed session when it began. */
export function hasClientCertificate(socket: Socket): boolean {
  return socket instanceof TLSSocket && socket.authorized;
}

/** The file of `--client-ca`, checked at the start: TLS would take a file without any certificate for one with none to trust. */
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Empty when there is no such setting. @throws Fault ERR_CERTIFICATE_UNREADABLE. */
export async function readClientCa(file: string): Promise<string> {
  if (file === "") return "";
  try {
    const text = await readFile(file, "utf8");
    const found = text.match(CERTIFICATE) ?? [];
    if (found.length === 0) throw new Error("there is no certificate in it");
    for (const pem of found) {
      if (!new X509Certificate(pem).ca) throw new Error("one of its certificates is no CA");
    }
    return found.join("\n");
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new Fault("ERR_CERTIFICATE_UNREADABLE", `--client-ca ${file}: ${detail}`, error);
  }
}
