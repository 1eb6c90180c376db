/**
 * Keeps strangers from the manager. The kernel hands a connection on when its first bytes are there or its caller is gone,
 * and one that does not begin with the Pod's token is closed unread, before the HTTP server hears of it. Pure.
 */
import type { PortGuard } from "../ports.ts";

/** @returns why nothing guards the port; empty when it is guarded */
export function guardPort(guard: PortGuard, token: string): string {
  return guard.prepare(`/${token}/`) ? "" : "the system does not let a listener wait for a caller's first bytes";
}

/**
 * Whether a request begins as the kubelet's and `lastcall drain` do, with the method and the token in one piece. The native
 * runtime decides the same (`native/runtime.patch`).
 *
 * A beginning that is right but short is refused too, and the comparison always takes as many steps: otherwise a caller
 * could find the token letter by letter.
 */
export function beginsWithToken(begun: Uint8Array, path: string): boolean {
  return isBegun(begun, `GET ${path}`) || isBegun(begun, `POST ${path}`);
}

function isBegun(begun: Uint8Array, expected: string): boolean {
  if (begun.length < expected.length) return false;
  let difference = 0;
  for (let at = 0; at < expected.length; at = at + 1) {
    difference = difference | ((begun[at] ?? 0) ^ expected.charCodeAt(at));
  }
  return difference === 0;
}
