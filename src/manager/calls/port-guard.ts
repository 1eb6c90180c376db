/**
 * Closes connections that do not start with the Pod's token, before the HTTP server reads them. The kernel defers accept until the
 * first bytes arrive (TCP_DEFER_ACCEPT). Pure.
 */
import type { PortGuard } from "../ports.ts";

/** @returns "" when the port is guarded, otherwise the reason why not */
export function guardPort(guard: PortGuard, token: string): string {
  return guard.prepare(`/${token}/`) ? "" : "the kernel does not support TCP_DEFER_ACCEPT";
}

/**
 * Whether the first bytes are a method and the token, as sent by the kubelet and `/lastcall drain` in one segment. The native
 * runtime implements the same check (`native/runtime.patch`).
 *
 * Refuses a correct but shorter start too, and compares in constant time: otherwise a client could find the token one character at a
 * time.
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
