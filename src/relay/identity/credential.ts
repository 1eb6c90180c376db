/**
 * Mints and verifies a Pod's credential, `kid.payload.mac`. The payload is base64url of JSON `{"n","k","o","u","r"}`
 * (namespace; kind, name and uid of the owner; random), the mac is base64url of HMAC-SHA256 over `kid.payload`. Macs
 * are compared as text, because several base64url texts decode to the same bytes.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { CredentialClaims } from "../../contract/relay-wire.ts";
import type { SigningKey } from "./identity.ts";

/** In characters. A credential with the longest names that Kubernetes allows has 720. */
const CREDENTIAL_LIMIT = 1_024;
const CREDENTIAL_PATTERN = /^([0-9a-f]{8})\.([0-9A-Za-z_-]+)\.([0-9A-Za-z_-]{43})$/;
/** Domain separation: a mac of the same key for another purpose is not a credential. */
const PURPOSE = "lastcall relay credential 1\n";

export function mintCredential(claims: CredentialClaims, key: SigningKey): string {
  const { namespace, ownerKind, ownerName, ownerUid, nonce } = claims;
  const json = JSON.stringify({ n: namespace, k: ownerKind, o: ownerName, u: ownerUid, r: nonce });
  const signedPart = `${key.kid}.${Buffer.from(json).toString("base64url")}`;
  return `${signedPart}.${computeMac(signedPart, key)}`;
}

export type VerifiedCredential = { readonly claims: CredentialClaims; readonly key: SigningKey };

export function readCredential(
  text: string,
  findKey: (kid: string) => SigningKey | undefined,
): VerifiedCredential | undefined {
  const parts = text.length > CREDENTIAL_LIMIT ? null : CREDENTIAL_PATTERN.exec(text);
  if (parts === null) return undefined;
  const [, kid = "", payload = "", mac = ""] = parts;
  const key = findKey(kid);
  if (key === undefined) return undefined;
  if (!timingSafeEqual(Buffer.from(computeMac(`${kid}.${payload}`, key)), Buffer.from(mac))) return undefined;
  const claims = parseClaims(Buffer.from(payload, "base64url").toString("utf8"));
  return claims === undefined ? undefined : { claims, key };
}

function computeMac(signedPart: string, key: SigningKey): string {
  return createHmac("sha256", key.secret)
    .update(PURPOSE + signedPart)
    .digest("base64url");
}

/** Strict: a payload with other fields, from a later version, is refused. */
function parseClaims(json: string): CredentialClaims | undefined {
  const value = parseJson(json);
  if (typeof value !== "object" || value === null || Object.keys(value).join() !== "n,k,o,u,r") return undefined;
  const [namespace, ownerKind, ownerName, ownerUid, nonce] = Object.values(value) as readonly unknown[];
  if (typeof namespace !== "string" || typeof nonce !== "string") return undefined;
  if (typeof ownerKind !== "string" || typeof ownerName !== "string" || typeof ownerUid !== "string") return undefined;
  return { namespace, ownerKind, ownerName, ownerUid, nonce };
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
