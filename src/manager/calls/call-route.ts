/** What a request asks for. Pure; whatever is not exactly right is `nothing`, and answered alike. */
import { canonicalAddress, isLoopbackAddress } from "../sockets/address-text.ts";

type Route =
  | { readonly kind: "prestop"; readonly container: string }
  | { readonly kind: "drain" }
  | { readonly kind: "status" }
  | { readonly kind: "nothing" };

type Request = {
  readonly method: string;
  readonly url: string;
  /** The caller is in the Pod itself. */
  readonly local: boolean;
};

const NOTHING: Route = { kind: "nothing" };
/** Longer than any container name behind any token. */
const LONGEST_URL = 512;

/** @param containers names that have our hook; no other name is known */
export function routeOf(request: Request, token: string, containers: readonly string[]): Route {
  if (request.url.length > LONGEST_URL) return NOTHING;
  const parts = (request.url.split("?")[0] ?? "").split("/");
  if (parts[0] !== "" || !sameText(parts[1] ?? "", token)) return NOTHING;
  const what = parts[2] ?? "";
  if (request.method === "GET" && what === "status" && parts.length === 3) return { kind: "status" };
  // Ending the Pod's service is for the Pod itself: anyone who may read Pods can read the token.
  if (request.method === "POST" && what === "drain" && parts.length === 3 && request.local) return { kind: "drain" };
  const container = parts[3] ?? "";
  if (request.method === "GET" && what === "prestop" && parts.length === 4 && containers.includes(container)) {
    return { kind: "prestop", container };
  }
  return NOTHING;
}

/**
 * Compares secrets in a time that does not depend on how much of them is right.
 *
 * @returns false for an empty `expected`
 */
export function sameText(given: string, expected: string): boolean {
  let difference = given.length === expected.length && expected !== "" ? 0 : 1;
  for (let at = 0; at < expected.length; at += 1) {
    // Always as many steps as the secret is long, whatever was given.
    const code = at < given.length ? given.charCodeAt(at) : 0;
    difference = difference | (code ^ expected.charCodeAt(at));
  }
  return difference === 0;
}

/** The caller is in the Pod itself. A Pod that shares its network namespace calls from the one address that is its own. */
export function isLocalCaller(address: string, addressScope: string): boolean {
  const caller = canonicalAddress(address);
  return isLoopbackAddress(caller) || (addressScope !== "" && caller === canonicalAddress(addressScope));
}
