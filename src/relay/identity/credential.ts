/**
 * Mints and verifies a Pod's credential, `kid.payload.mac`. The payload is base64url of JSON `{"n","k","o","u","r"}`
 * (namespace; kind, name and uid of the owner; random), the mac is base64url of HMAC-SHA256 over `kid.payload`. Macs
 * are compared as text, because several base64url texts decode to the same bytes.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { CredentialClaims } from "../../contract/relay-wire.ts";
import type { SigningKey } from "./identity.ts";

/** The longest names in Kubernetes make 720 characters. */
const CREDENTIAL_LIMIT = 1_024;
const SHAPE = /^([0-9a-f]{8})\.([0-9A-Za-z_-]+)\.([0-9A-Za-z_-]{43})$/;
/** Domain separation: a mac of the same key for another purpose is not a credential. */
const PURPOSE = "lastcall relay credential 1\n";

export function mintCredential(claims: CredentialClaims, key: SigningKey): string {
  const { namespace, ownerKind, ownerName, ownerUid, nonce } = claims;
  const json = JSON.stringify({ n: namespace, k: ownerKind, o: ownerName, u: ownerUid, r: nonce });
  const signed = `${key.kid}.${Buffer.from(json).toString("base64url")}`;
  return `${signed}.${macOf(signed, key)}`;
}

export type ReadCredential = { readonly claims: CredentialClaims; readonly key: SigningKey };

export function readCredential(
  text: string,
  keyOf: (kid: string) => SigningKey | undefined,
): ReadCredential | undefined {
  const parts = text.length > CREDENTIAL_LIMIT ? null : SHAPE.exec(text);
  if (parts === null) return undefined;
  const [, kid = "", payload = "", mac = ""] = parts;
  const key = keyOf(kid);
  if (key === undefined) return undefined;
  if (!timingSafeEqual(Buffer.from(macOf(`${kid}.${payload}`, key)), Buffer.from(mac))) return undefined;
  const claims = claimsOf(Buffer.from(payload, "base64url").toString("utf8"));
  return claims === undefined ? undefined : { claims, key };
}

function macOf(signed: string, key: SigningKey): string {
  return createHmac("sha256", key.secret)
    .update(PURPOSE + signed)
    .digest("base64url");
}

/** Strict: a payload with other fields, from a later version, is refused. */
function claimsOf(json: string): CredentialClaims | undefined {
  const value = parsed(json);
  if (typeof value !== "object" || value === null || Object.keys(value).join() !== "n,k,o,u,r") return undefined;
  const [namespace, ownerKind, ownerName, ownerUid, nonce] = Object.values(value) as readonly unknown[];
  if (typeof namespace !== "string" || typeof nonce !== "string") return undefined;
  if (typeof ownerKind !== "string" || typeof ownerName !== "string" || typeof ownerUid !== "string") return undefined;
  return { namespace, ownerKind, ownerName, ownerUid, nonce };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
