/**
 * Makes, reads and writes the CAs and signing keys of the relay's Secret: `ca-FINGERPRINT.crt` and `.key` as PEM,
 * `sign-KID.json` as `{"made":"2026-01-31T…","secret":"<base64>"}`.
 */
import { createSecretKey, randomBytes } from "node:crypto";
import { createCaReader, fingerprintOf, type SigningCa } from "../../authority/certificate.ts";
import { type Entries, type EntryChanges, parseJson, readCaEntries } from "../../authority/shared-secret.ts";
import { createCertificateTools } from "../../authority/signing.ts";
import { CA_LIFE_MS, type RelayIdentity, type SigningKey } from "./identity.ts";

const CA_NAME = "lastcall relay CA";
const SECRET_BYTES = 32;

export type IdentityTools = {
  /** @param validFromMs start of the validity of the existing CAs and of the new CA, even if the clock of this replica is ahead */
  readonly makeCa: (wallMs: number, validFromMs: number) => Promise<SigningCa>;
  readonly makeKey: (wallMs: number) => SigningKey;
};

const RELAY_CA_READER = createCaReader(CA_NAME);

export const IDENTITY_TOOLS: IdentityTools = {
  makeCa: (nowMs, validFromMs) =>
    createCertificateTools(CA_NAME, { dns: [] }).makeCa({ nowMs, lifeMs: CA_LIFE_MS, validFromMs }),
  makeKey: (wallMs) => ({
    kid: randomBytes(4).toString("hex"),
    createdMs: wallMs,
    secret: createSecretKey(randomBytes(SECRET_BYTES)),
  }),
};

type SecretContent = {
  readonly identity: RelayIdentity;
  readonly secretErrors: readonly string[];
  readonly names: readonly string[];
};

const CA_ENTRY = /^(ca-[0-9a-f]{16})\.(?:crt|key)$/;
const KEY_ENTRY = /^sign-([0-9a-f]{8})\.json$/;

export function readContent(entries: Entries): SecretContent {
  const secretErrors: string[] = [];
  const names = Object.keys(entries).filter((name) => CA_ENTRY.test(name) || KEY_ENTRY.test(name));
  const caNames = new Set(names.flatMap((name) => CA_ENTRY.exec(name)?.[1] ?? []));
  const cas = [...caNames].flatMap((name): SigningCa[] => {
    const reading = readCaEntries(entries, name, RELAY_CA_READER);
    if (reading.kind === "signing" && caEntryName(reading.ca) === name) return [reading.ca];
    secretErrors.push(
      reading.kind === "unusable"
        ? reading.error
        : `${name}.crt contains a CA whose fingerprint is not in the entry's name`,
    );
    return [];
  });
  const keys = names.flatMap((name): SigningKey[] => {
    const kid = KEY_ENTRY.exec(name)?.[1];
    if (kid === undefined) return [];
    const key = readKey(kid, entries[name] ?? "");
    if (key === undefined) secretErrors.push(`${name}: the fields "made" and "secret" are missing or invalid`);
    return key === undefined ? [] : [key];
  });
  return { identity: { cas, keys }, secretErrors, names };
}

export function changesTo(content: SecretContent, newIdentity: RelayIdentity): EntryChanges {
  const removals = Object.fromEntries(content.names.map((name) => [name, undefined]));
  return { ...removals, ...entriesOf(newIdentity) };
}

export function entriesOf({ cas, keys }: RelayIdentity): Entries {
  const caEntries = cas.flatMap((ca) => [
    [`${caEntryName(ca)}.crt`, ca.cert] as const,
    [`${caEntryName(ca)}.key`, ca.key] as const,
  ]);
  const keyEntries = keys.map(({ kid, createdMs, secret }) => {
    const createdAt = new Date(createdMs).toISOString();
    return [
      `sign-${kid}.json`,
      `${JSON.stringify({ made: createdAt, secret: secret.export().toString("base64") })}\n`,
    ] as const;
  });
  return Object.fromEntries([...caEntries, ...keyEntries]);
}

function caEntryName(ca: SigningCa): string {
  return `ca-${fingerprintOf(ca)}`;
}

function readKey(kid: string, text: string): SigningKey | undefined {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null || !("made" in value) || !("secret" in value)) return undefined;
  if (typeof value.made !== "string" || typeof value.secret !== "string") return undefined;
  const createdMs = Date.parse(value.made);
  const secret = Buffer.from(value.secret, "base64");
  if (Number.isNaN(createdMs) || secret.length !== SECRET_BYTES) return undefined;
  return { kid, createdMs, secret: createSecretKey(secret) };
}
