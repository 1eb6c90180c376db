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
  readonly isLocal: boolean;
};

const NO_ROUTE: Route = { kind: "nothing" };
/** Longer than any path with a token and a container name. */
const URL_LIMIT_CHARACTERS = 512;

/** @param containers names of the containers whose hooks are held */
export function routeOf(request: Request, token: string, containers: readonly string[]): Route {
  if (request.url.length > URL_LIMIT_CHARACTERS) return NO_ROUTE;
  const segments = (request.url.split("?")[0] ?? "").split("/");
  if (segments[0] !== "" || !isSameSecret(segments[1] ?? "", token)) return NO_ROUTE;
  const action = segments[2] ?? "";
  if (request.method === "GET" && action === "status" && segments.length === 3) return { kind: "status" };
  // Only clients in the Pod may start a drain, because everyone who can read the Pod has the token.
  if (request.method === "POST" && action === "drain" && segments.length === 3 && request.isLocal)
    return { kind: "drain" };
  const container = segments[3] ?? "";
  if (request.method === "GET" && action === "prestop" && segments.length === 4 && containers.includes(container)) {
    return { kind: "prestop", container };
  }
  return NO_ROUTE;
}

/**
 * Compares secrets in constant time.
 *
 * @returns false for an empty `expected`
 */
export function isSameSecret(actual: string, expected: string): boolean {
  let difference = actual.length === expected.length && expected !== "" ? 0 : 1;
  for (let at = 0; at < expected.length; at += 1) {
    // The number of iterations depends on the expected text only.
    const code = at < actual.length ? actual.charCodeAt(at) : 0;
    difference = difference | (code ^ expected.charCodeAt(at));
  }
  return difference === 0;
}

/** Whether the client is in the Pod. If Pods share a network namespace, this Pod's address counts as local too. */
export function isLocalClient(address: string, addressScope: string): boolean {
  const clientAddress = canonicalAddress(address);
  return isLoopbackAddress(clientAddress) || (addressScope !== "" && clientAddress === canonicalAddress(addressScope));
}
