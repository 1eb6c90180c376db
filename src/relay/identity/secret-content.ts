/**
 * The Secret's entries to an identity and back: `ca-<generation>.crt` and `.key` as PEM, `sign-<kid>.json` as
 * `{"made":"2026-01-31T…","secret":"<base64>"}`. What is damaged is told and left out; what is good is kept.
 */
import { createSecretKey } from "node:crypto";
import { fingerprintOf, type SigningCa } from "../../authority/certificate.ts";
import type { RelayIdentity, SigningKey } from "./identity.ts";
import { RELAY_CA_READER, SECRET_BYTES } from "./identity-tools.ts";

export type SecretContent = {
  readonly identity: RelayIdentity;
  /** One sentence per damaged place; empty when everything is well. */
  readonly damage: readonly string[];
  /** Entries that are ours by their name, good or not. */
  readonly names: readonly string[];
};

type Entries = Readonly<Record<string, string>>;

const CA_ENTRY = /^ca-([0-9a-f]{16})\.(crt|key)$/;
const KEY_ENTRY = /^sign-([0-9a-f]{8})\.json$/;

export function readContent(entries: Entries): SecretContent {
  const damage: string[] = [];
  const names = Object.keys(entries).filter((name) => CA_ENTRY.test(name) || KEY_ENTRY.test(name));
  const ids = new Set(names.flatMap((name) => CA_ENTRY.exec(name)?.[1] ?? []));
  const generations = [...ids].flatMap((id): SigningCa[] => {
    const read = RELAY_CA_READER.readCa(entries[`ca-${id}.crt`] ?? "");
    const key = entries[`ca-${id}.key`];
    if ("why" in read) damage.push(`ca-${id}.crt ${read.why}`);
    else if (key === undefined) damage.push(`ca-${id}.key is missing`);
    else if (!RELAY_CA_READER.keyFits(read.ca, key)) damage.push(`ca-${id}.key is not the key of ca-${id}.crt`);
    else if (fingerprintOf(read.ca) !== id) damage.push(`ca-${id}.crt is a CA of another name`);
    else return [{ ...read.ca, key }];
    return [];
  });
  const keys = names.flatMap((name): SigningKey[] => {
    const kid = KEY_ENTRY.exec(name)?.[1];
    if (kid === undefined) return [];
    const key = readKey(kid, entries[name] ?? "");
    if (key === undefined) damage.push(`${name} is not {made, secret}`);
    return key === undefined ? [] : [key];
  });
  return { identity: { generations, keys }, damage, names };
}

/** What has to change: `undefined` removes. Entries of others are not named and so not touched. */
export function changesTo(content: SecretContent, wanted: RelayIdentity): Readonly<Record<string, string | undefined>> {
  const changes: Record<string, string | undefined> = {};
  for (const name of content.names) changes[name] = undefined;
  return { ...changes, ...entriesOf(wanted) };
}

export function entriesOf({ generations, keys }: RelayIdentity): Entries {
  const cas = generations.flatMap((ca) => {
    const name = `ca-${fingerprintOf(ca)}`;
    return [[`${name}.crt`, ca.cert] as const, [`${name}.key`, ca.key]];
  });
  const signing = keys.map(({ kid, madeMs, secret }) => {
    const made = new Date(madeMs).toISOString();
    return [`sign-${kid}.json`, `${JSON.stringify({ made, secret: secret.export().toString("base64") })}\n`];
  });
  return Object.fromEntries([...cas, ...signing]);
}

function readKey(kid: string, text: string): SigningKey | undefined {
  const row = parsed(text);
  if (typeof row !== "object" || row === null || !("made" in row) || !("secret" in row)) return undefined;
  if (typeof row.made !== "string" || typeof row.secret !== "string") return undefined;
  const madeMs = Date.parse(row.made);
  const secret = Buffer.from(row.secret, "base64");
  if (Number.isNaN(madeMs) || secret.length !== SECRET_BYTES) return undefined;
  return { kid, madeMs, secret: createSecretKey(secret) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
