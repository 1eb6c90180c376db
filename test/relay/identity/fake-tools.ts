/** Creates fake signing keys and CAs for code that does not parse certificates. */
import { createHash, createSecretKey } from "node:crypto";
import type { SigningCa } from "../../../src/authority/certificate.ts";
import { CA_LIFE_MS, type SigningKey } from "../../../src/relay/identity/identity.ts";

export const YEAR_MS = 365 * 86_400_000;
export const DAY_MS = 86_400_000;
/** An arbitrary start time. */
export const START_MS = Date.UTC(2026, 7, 1);

export function createFakeKey(name: string, createdMs: number): SigningKey {
  const digest = createHash("sha256").update(name).digest();
  return { kid: digest.toString("hex").slice(0, 8), createdMs, secret: createSecretKey(digest) };
}

export function createFakeCa(name: string, createdMs: number): SigningCa {
  const id = Buffer.from(name).toString("base64");
  const [validFromMs, validUntilMs] = [createdMs - 3_600_000, createdMs + CA_LIFE_MS];
  return { id, cert: `cert ${name}`, key: `key ${name}`, validFromMs, validUntilMs };
}
