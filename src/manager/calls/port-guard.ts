/**
 * Closes connections whose first bytes do not contain the Pod's token, before the HTTP server reads them. The kernel defers
 * accept until the first bytes arrive (TCP_DEFER_ACCEPT). Pure.
 */
import type { PortGuard } from "../ports.ts";

/** @returns "" if the port is guarded, otherwise the reason why it is not */
export function guardPort(guard: PortGuard, token: string): string {
  return guard.prepare(`/${token}/`) ? "" : "the kernel does not support TCP_DEFER_ACCEPT";
}

/**
 * Whether the first bytes are a method and the token. The kubelet and `/lastcall drain` send both in one segment. The native
 * runtime implements the same check (`native/runtime.patch`).
 *
 * Compares in constant time, and refuses a correct but incomplete token too. Otherwise a client could find the token one
 * character at a time.
 */
export function beginsWithToken(firstBytes: Uint8Array, path: string): boolean {
  return startsWithSecret(firstBytes, `GET ${path}`) || startsWithSecret(firstBytes, `POST ${path}`);
}

function startsWithSecret(firstBytes: Uint8Array, expected: string): boolean {
  if (firstBytes.length < expected.length) return false;
  let difference = 0;
  for (let at = 0; at < expected.length; at = at + 1) {
    difference = difference | ((firstBytes[at] ?? 0) ^ expected.charCodeAt(at));
  }
  return difference === 0;
}
