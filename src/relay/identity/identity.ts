/** Decides which CAs Pods pin, and which keys sign their credentials, by age. Pure. */
import type { KeyObject } from "node:crypto";
import { type Ca, fingerprintOf, isValidAt, type SigningCa } from "../../authority/certificate.ts";

export type SigningKey = {
  /** 8 hexadecimal characters; the first part of a credential. */
  readonly kid: string;
  /** Wall clock, milliseconds. */
  readonly madeMs: number;
  /** 32 bytes; signing with bytes as they are takes eight times as long. */
  readonly secret: KeyObject;
};

/** `generations` are CAs: each Pod keeps the one it got for as long as it lives. */
export type RelayIdentity = { readonly generations: readonly SigningCa[]; readonly keys: readonly SigningKey[] };

/** The part of a CA that Pods get. */
type PublicCa = Omit<Ca, "cert">;

/** The part of the identity that gives Pods access: the keys that sign credentials, and nothing secret of the CAs. */
export type AccessIdentity = {
  readonly generations: readonly PublicCa[];
  readonly keys: readonly SigningKey[];
};

export const NO_IDENTITY: RelayIdentity = { generations: [], keys: [] };

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365 * DAY_MS;

export const CA_LIFE_MS = 10 * YEAR_MS;
/** From then on another one is given to Pods: every Pod can live for five years with the one it got. */
const CA_GIVEN_FOR_MS = CA_LIFE_MS / 2;
/** The present one, one that is served to its end, and two that a wrong clock made. */
const GENERATIONS_KEPT = 4;

const KEY_SIGNS_FOR_MS = 90 * DAY_MS;
/** A new key is in the Secret this long before it signs: every replica has read it by then, and clocks are less far apart. */
const KEY_SETTLES_MS = HOUR_MS;
/** Eight follow one another in two years. They go by their number: a clock that jumps must not drop them. */
const KEYS_KEPT = 10;
/** A credential of an older key is replaced when its Pod comes by again: the key has a year left at least. */
const KEY_IS_FRESH_MS = YEAR_MS;

/** The one new Pods get: it is valid longest; `undefined` when none is valid. */
export function newestGeneration<T extends PublicCa>(
  { generations }: { readonly generations: readonly T[] },
  wallMs: number,
): T | undefined {
  return generations.filter((each) => isValidAt(each, wallMs)).toSorted(byEnd)[0];
}

/** The key that signs now: the newest one that every replica has read; before there is one, the oldest. */
export function signingKey({ keys }: AccessIdentity, wallMs: number): SigningKey | undefined {
  const byAge = keys.toSorted(byMaking);
  return byAge.find((key) => key.madeMs <= wallMs - KEY_SETTLES_MS) ?? byAge.at(-1);
}

export function isFresh(key: SigningKey, wallMs: number): boolean {
  return wallMs - key.madeMs < KEY_IS_FRESH_MS;
}

export type Missing = { readonly generation: boolean; readonly key: boolean };

export function missingFrom(identity: RelayIdentity, wallMs: number): Missing {
  const newest = newestGeneration(identity, wallMs);
  // A key from the future was made by a wrong clock: it must not keep this one from making its own.
  const newestKey = identity.keys.filter((key) => key.madeMs <= wallMs + KEY_SETTLES_MS).toSorted(byMaking)[0];
  return {
    generation: newest === undefined || newest.validUntilMs - wallMs < CA_LIFE_MS - CA_GIVEN_FOR_MS,
    key: newestKey === undefined || wallMs - newestKey.madeMs >= KEY_SIGNS_FOR_MS,
  };
}

/** For another thread, which does not need the keys of the CAs. */
export function accessIdentityOf({ generations, keys }: RelayIdentity): AccessIdentity {
  return { generations: generations.map(({ cert: _cert, key: _key, ...given }) => given), keys };
}

/** Without what is too old to be kept. */
export function keptOf({ generations, keys }: RelayIdentity): RelayIdentity {
  return {
    generations: generations.toSorted(byEnd).slice(0, GENERATIONS_KEPT),
    keys: keys.toSorted(byMaking).slice(0, KEYS_KEPT),
  };
}

/** Newest first; equal times, which only a wrong clock makes, in one order for all replicas. */
function byMaking(left: SigningKey, right: SigningKey): number {
  return right.madeMs - left.madeMs || (left.kid < right.kid ? -1 : 1);
}

function byEnd(left: PublicCa, right: PublicCa): number {
  return right.validUntilMs - left.validUntilMs || (left.id < right.id ? -1 : 1);
}

/** The server name by which a Pod selects the CA it pins. */
const SERVER_NAME = /^relay-[0-9a-f]{16}\.lastcall\.internal$/;

export function serverNameOf(ca: Pick<Ca, "id">): string {
  return `relay-${fingerprintOf(ca)}.lastcall.internal`;
}

export function isServerName(name: string): boolean {
  return SERVER_NAME.test(name);
}
