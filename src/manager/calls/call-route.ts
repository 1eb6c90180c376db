/** Routes a request by method, path and token. All invalid requests have the same route. Pure. */
import { canonicalAddress, isLoopbackAddress } from "../sockets/address-text.ts";

type Route =
  | { readonly kind: "prestop"; readonly container: string }
  | { readonly kind: "drain" }
  | { readonly kind: "status" }
  | { readonly kind: "nothing" };

type Request = {
  readonly method: string;
  readonly url: string;
  readonly local: boolean;
};

const NOTHING: Route = { kind: "nothing" };
/** Longer than any path with a token and a container name. */
const LONGEST_URL = 512;

/** @param containers names of the containers whose hooks are held */
export function routeOf(request: Request, token: string, containers: readonly string[]): Route {
  if (request.url.length > LONGEST_URL) return NOTHING;
  const parts = (request.url.split("?")[0] ?? "").split("/");
  if (parts[0] !== "" || !sameText(parts[1] ?? "", token)) return NOTHING;
  const what = parts[2] ?? "";
  if (request.method === "GET" && what === "status" && parts.length === 3) return { kind: "status" };
  // Only clients in the Pod may start a drain, because everyone who can read the Pod has the token.
  if (request.method === "POST" && what === "drain" && parts.length === 3 && request.local) return { kind: "drain" };
  const container = parts[3] ?? "";
  if (request.method === "GET" && what === "prestop" && parts.length === 4 && containers.includes(container)) {
    return { kind: "prestop", container };
  }
  return NOTHING;
}

/**
 * Compares secrets in constant time.
 *
 * @returns false for an empty `expected`
 */
export function sameText(given: string, expected: string): boolean {
  let difference = given.length === expected.length && expected !== "" ? 0 : 1;
  for (let at = 0; at < expected.length; at += 1) {
    // The number of iterations depends on the expected text only.
    const code = at < given.length ? given.charCodeAt(at) : 0;
    difference = difference | (code ^ expected.charCodeAt(at));
  }
  return difference === 0;
}

/** Whether the client is in the Pod. If Pods share a network namespace, this Pod's address counts as local too. */
export function isLocalCaller(address: string, addressScope: string): boolean {
  const caller = canonicalAddress(address);
  return isLoopbackAddress(caller) || (addressScope !== "" && caller === canonicalAddress(addressScope));
}
