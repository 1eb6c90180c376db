/** Reviews only from clients with a certificate of a given CA. Probes and Prometheus have none, so the handshake takes all. */
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

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
