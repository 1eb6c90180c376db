/** The port by which the relay's routes learn whom a request speaks for. */
import type { CredentialClaims } from "../contract/relay-wire.ts";

/** @param authorization the header as received; `undefined` is answered for everything that is no valid credential */
export type CheckCredential = (authorization: string | undefined) => CredentialClaims | undefined;
