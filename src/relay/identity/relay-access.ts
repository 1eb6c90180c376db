/** Gives Pods the relay's address, CA and credential at injection, and checks the credentials of their requests. */
import { isIP } from "node:net";
import { isOwner } from "../../api-server/event-object.ts";
import { isDnsLabel } from "../../contract/outside-text.ts";
import type { GiveRelayAccess, RelayAccessQuestion } from "../../contract/relay-access.ts";
import { CREDENTIAL_SCHEME } from "../../contract/relay-wire.ts";
import type { CheckCredential } from "../server/guard.ts";
import { mintCredential, type ReadCredential, readCredential } from "./credential.ts";
import {
  type AccessIdentity,
  isFresh,
  newestGeneration,
  type SigningKey,
  serverNameOf,
  signingKey,
} from "./identity.ts";

type AccessPorts = {
  readonly identity: () => AccessIdentity;
  /** Wall clock, milliseconds. */
  readonly wallMs: () => number;
  /** Random text that was never used before. */
  readonly newNonce: () => string;
  /** A credential names a key that this replica has not read; unauthenticated clients can send one. */
  readonly onUnknownKey: () => void;
};

type GivingPorts = Omit<AccessPorts, "onUnknownKey">;

const NONCE_CHARACTERS = 16;

/** @param address as Pods are given it */
export function relayAccess(address: string, ports: GivingPorts): GiveRelayAccess {
  return (question) => {
    const wallMs = ports.wallMs();
    const identity = ports.identity();
    const generation = newestGeneration(identity, wallMs);
    const key = signingKey(identity, wallMs);
    if (generation === undefined || key === undefined || !isDnsLabel(question.namespace)) return undefined;
    return {
      address,
      serverName: serverNameOf(generation),
      ca: generation.id,
      credential: keptCredential(question, identity, wallMs) ?? newCredential(question, key, ports),
    };
  };
}

export function credentialCheck(ports: Pick<AccessPorts, "identity" | "onUnknownKey">): CheckCredential {
  const prefix = `${CREDENTIAL_SCHEME} `;
  return (authorization) => {
    if (authorization?.startsWith(prefix) !== true) return undefined;
    return readCredential(authorization.slice(prefix.length), (kid) => {
      const key = keyOf(ports.identity(), kid);
      if (key === undefined) ports.onUnknownKey();
      return key;
    })?.claims;
  };
}

/**
 * A second admission gets the credential of the first one, unless it is of another owner or its key will be dropped
 * soon.
 */
function keptCredential(question: RelayAccessQuestion, identity: AccessIdentity, wallMs: number): string | undefined {
  const text = question.standing?.credential;
  const read = text === undefined ? undefined : readCredential(text, (kid) => keyOf(identity, kid));
  return read !== undefined && isCredentialOf(question, read, wallMs) ? text : undefined;
}

function isCredentialOf(question: RelayAccessQuestion, { claims, key }: ReadCredential, wallMs: number): boolean {
  const owner = ownerOf(question);
  return (
    isFresh(key, wallMs) &&
    claims.namespace === question.namespace &&
    claims.ownerKind === owner.ownerKind &&
    claims.ownerName === owner.ownerName &&
    claims.ownerUid === owner.ownerUid
  );
}

function newCredential(question: RelayAccessQuestion, key: SigningKey, ports: GivingPorts): string {
  const { namespace } = question;
  const nonce = ports.newNonce().slice(0, NONCE_CHARACTERS);
  return mintCredential({ namespace, ...ownerOf(question), nonce }, key);
}

type Owner = Pick<RelayAccessQuestion, "ownerKind" | "ownerName" | "ownerUid">;

const NO_OWNER: Owner = { ownerKind: "", ownerName: "", ownerUid: "" };

/** Admission comes before the API server's own checks: a reference may hold anything yet. */
function ownerOf({ ownerKind, ownerName, ownerUid }: Owner): Owner {
  const isReal = isOwner({ apiVersion: "", kind: ownerKind, name: ownerName, uid: ownerUid });
  return isReal ? { ownerKind, ownerName, ownerUid } : NO_OWNER;
}

function keyOf({ keys }: AccessIdentity, kid: string): SigningKey | undefined {
  return keys.find((key) => key.kid === kid);
}

/**
 * Reads `ADDRESS:PORT`. Brackets may stand around either family and are only kept around IPv6: a template that an address is
 * filled into works for both.
 *
 * @returns `10.96.0.7:443` or `[fd00::7]:443`; `undefined` when it is no IP address with a port
 */
export function readRelayAddress(text: string): string | undefined {
  const parts = /^(?:\[([^[\]]+)\]|([^[\]]+)):([0-9]{1,5})$/.exec(text);
  const address = parts?.[1] ?? parts?.[2] ?? "";
  const port = Number(parts?.[3] ?? 0);
  if (port < 1 || port > 65_535) return undefined;
  const family = address.includes("%") ? 0 : isIP(address);
  if (family === 0) return undefined;
  return family === 6 ? `[${address}]:${port}` : `${address}:${port}`;
}
