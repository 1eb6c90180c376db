/** Why an exchange with the relay broke off, in words of our own: the two builds and every library have others. Pure. */

type Words = { readonly hints: readonly string[]; readonly means: string };

/** The first that fits. */
const FAILURES: readonly Words[] = [
  { hints: ["ECONNREFUSED"], means: "its address refuses connections" },
  { hints: ["EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT", "EADDRNOTAVAIL"], means: "its address cannot be reached" },
  { hints: ["expired"], means: "its certificate has expired" },
  { hints: ["not yet valid"], means: "its certificate is not valid yet" },
  { hints: ["altnames"], means: "its certificate is for another name" },
  {
    hints: ["verify", "self-signed", "self signed", "issuer"],
    means: "its certificate is not vouched for by the given CA",
  },
  { hints: ["EPROTO", "handshake failed", "SSL", "wrong version"], means: "it does not speak TLS as expected" },
  { hints: ["hang up", "disconnected", "ECONNRESET", "EPIPE", "closed", "aborted"], means: "it closed the connection" },
];

/** @param message of the library */
export function relayFailure(message: string): string {
  for (const { hints, means } of FAILURES) {
    if (hints.some((hint) => message.includes(hint))) return means;
  }
  return "the connection failed";
}
