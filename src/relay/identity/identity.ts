/** Selects, by age, the CA that Pods pin and the key that signs credentials. Pure. */
import type { KeyObject } from "node:crypto";
import { type Ca, fingerprintOf, isValidAt, type SigningCa } from "../../authority/certificate.ts";

export type SigningKey = {
  readonly kid: string;
  readonly createdMs: number;
  /** 32 bytes; signing with a Buffer takes eight times as long. */
  readonly secret: KeyObject;
};

/** A Pod trusts only the CA that was current at its injection, for its whole lifetime, so several CAs are valid at a time. */
export type RelayIdentity = { readonly cas: readonly SigningCa[]; readonly keys: readonly SigningKey[] };

type PublicCa = Omit<Ca, "cert">;

/** The part of the identity that injection needs: the signing keys, and the CAs without their keys. */
export type IssuerIdentity = {
  readonly cas: readonly PublicCa[];
  readonly keys: readonly SigningKey[];
};

export const NO_IDENTITY: RelayIdentity = { cas: [], keys: [] };

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365 * DAY_MS;

export const CA_LIFE_MS = 10 * YEAR_MS;
/** Injection uses a CA for this time, then a new one, so the CA of every Pod is valid for at least five years after injection. */
const CA_ISSUED_FOR_MS = CA_LIFE_MS / 2;
/** The current CA, its predecessor until it expires, and two CAs from replicas with a wrong clock. */
const CAS_LIMIT = 4;

const KEY_SIGNS_FOR_MS = 90 * DAY_MS;
/** A new key is in the Secret this long before it signs, so that every replica has read it, despite clock skew. */
const KEY_PROPAGATION_MS = HOUR_MS;
/** Two years require eight keys. The limit is a number, not an age, so that a jump of the clock does not drop keys. */
const KEYS_LIMIT = 10;
/** A second admission replaces a credential whose key is older than this. A younger key stays in the Secret for at least another year. */
const FRESH_KEY_AGE_MS = YEAR_MS;

export function newestValidCa<T extends PublicCa>(
  { cas }: { readonly cas: readonly T[] },
  wallMs: number,
): T | undefined {
  return cas.filter((each) => isValidAt(each, wallMs)).toSorted(compareExpiry)[0];
}

/** Returns the newest key that every replica has read, or the oldest key if all are too new. */
export function signingKey({ keys }: IssuerIdentity, wallMs: number): SigningKey | undefined {
  const sortedKeys = keys.toSorted(compareCreation);
  return sortedKeys.find((key) => key.createdMs <= wallMs - KEY_PROPAGATION_MS) ?? sortedKeys.at(-1);
}

export function isFreshKey(key: SigningKey, wallMs: number): boolean {
  return wallMs - key.createdMs < FRESH_KEY_AGE_MS;
}

export type Missing = { readonly generation: boolean; readonly key: boolean };

export function findMissing(identity: RelayIdentity, wallMs: number): Missing {
  const newestCa = newestValidCa(identity, wallMs);
  // A key whose creation is in the future comes from a replica with a wrong clock, and does not count.
  const newestKey = identity.keys
    .filter((key) => key.createdMs <= wallMs + KEY_PROPAGATION_MS)
    .toSorted(compareCreation)[0];
  return {
    generation: newestCa === undefined || newestCa.validUntilMs - wallMs < CA_LIFE_MS - CA_ISSUED_FOR_MS,
    key: newestKey === undefined || wallMs - newestKey.createdMs >= KEY_SIGNS_FOR_MS,
  };
}

export function issuerIdentityOf({ cas, keys }: RelayIdentity): IssuerIdentity {
  return { cas: cas.map(({ cert: _cert, key: _key, ...publicPart }) => publicPart), keys };
}

export function dropOldest({ cas, keys }: RelayIdentity): RelayIdentity {
  return {
    cas: cas.toSorted(compareExpiry).slice(0, CAS_LIMIT),
    keys: keys.toSorted(compareCreation).slice(0, KEYS_LIMIT),
  };
}

/** Newest first; keys of the same time are in the same order on all replicas. */
function compareCreation(left: SigningKey, right: SigningKey): number {
  return right.createdMs - left.createdMs || (left.kid < right.kid ? -1 : 1);
}

function compareExpiry(left: PublicCa, right: PublicCa): number {
  return right.validUntilMs - left.validUntilMs || (left.id < right.id ? -1 : 1);
}

const SERVER_NAME = /^relay-[0-9a-f]{16}\.lastcall\.internal$/;

export function serverNameOf(ca: Pick<Ca, "id">): string {
  return `relay-${fingerprintOf(ca)}.lastcall.internal`;
}

export function isServerName(name: string): boolean {
  return SERVER_NAME.test(name);
}
