/** Issues the relay's address, CA and credential to Pods at injection, and checks the credentials of their requests. */
import { isIP } from "node:net";
import { isValidOwner } from "../../api-server/event-object.ts";
import type { IssueRelayAccess, RelayAccessRequest } from "../../contract/relay-access.ts";
import { CREDENTIAL_SCHEME } from "../../contract/relay-wire.ts";
import { isDnsLabel } from "../../contract/untrusted-text.ts";
import type { CheckCredential } from "../server/guard.ts";
import { mintCredential, readCredential, type VerifiedCredential } from "./credential.ts";
import {
  type IssuerIdentity,
  isFreshKey,
  newestValidCa,
  type SigningKey,
  serverNameOf,
  signingKey,
} from "./identity.ts";

type AccessPorts = {
  readonly identity: () => IssuerIdentity;
  readonly wallMs: () => number;
  readonly newNonce: () => string;
  /** Called when a credential names a key that this replica has not read; unauthenticated clients can trigger the call. */
  readonly onUnknownKey: () => void;
};

type IssuingPorts = Omit<AccessPorts, "onUnknownKey">;

const NONCE_CHARACTERS = 16;

export function createAccessIssuer(address: string, ports: IssuingPorts): IssueRelayAccess {
  return (request) => {
    const wallMs = ports.wallMs();
    const identity = ports.identity();
    const ca = newestValidCa(identity, wallMs);
    const key = signingKey(identity, wallMs);
    if (ca === undefined || key === undefined || !isDnsLabel(request.namespace)) return undefined;
    return {
      address,
      serverName: serverNameOf(ca),
      ca: ca.id,
      credential: reusableCredential(request, identity, wallMs) ?? createCredential(request, key, ports),
    };
  };
}

export function createCredentialCheck(ports: Pick<AccessPorts, "identity" | "onUnknownKey">): CheckCredential {
  const prefix = `${CREDENTIAL_SCHEME} `;
  return (authorization) => {
    if (authorization?.startsWith(prefix) !== true) return undefined;
    return readCredential(authorization.slice(prefix.length), (kid) => {
      const key = findKey(ports.identity(), kid);
      if (key === undefined) ports.onUnknownKey();
      return key;
    })?.claims;
  };
}

/** A second admission keeps the credential of the first admission, unless the owner changed or the key is too old. */
function reusableCredential(request: RelayAccessRequest, identity: IssuerIdentity, wallMs: number): string | undefined {
  const text = request.existingAccess?.credential;
  const credential = text === undefined ? undefined : readCredential(text, (kid) => findKey(identity, kid));
  return credential !== undefined && isReusable(request, credential, wallMs) ? text : undefined;
}

function isReusable(request: RelayAccessRequest, { claims, key }: VerifiedCredential, wallMs: number): boolean {
  const owner = validOwner(request);
  return (
    isFreshKey(key, wallMs) &&
    claims.namespace === request.namespace &&
    claims.ownerKind === owner.ownerKind &&
    claims.ownerName === owner.ownerName &&
    claims.ownerUid === owner.ownerUid
  );
}

function createCredential(request: RelayAccessRequest, key: SigningKey, ports: IssuingPorts): string {
  const { namespace } = request;
  const nonce = ports.newNonce().slice(0, NONCE_CHARACTERS);
  return mintCredential({ namespace, ...validOwner(request), nonce }, key);
}

type Owner = Pick<RelayAccessRequest, "ownerKind" | "ownerName" | "ownerUid">;

const NO_OWNER: Owner = { ownerKind: "", ownerName: "", ownerUid: "" };

/** Returns an empty owner for an invalid one: at admission the API server has not validated owner references yet. */
function validOwner({ ownerKind, ownerName, ownerUid }: Owner): Owner {
  const isValid = isValidOwner({ apiVersion: "", kind: ownerKind, name: ownerName, uid: ownerUid });
  return isValid ? { ownerKind, ownerName, ownerUid } : NO_OWNER;
}

function findKey({ keys }: IssuerIdentity, kid: string): SigningKey | undefined {
  return keys.find((key) => key.kid === kid);
}

/** Accepts brackets around IPv4 too, so that `[$(HOST)]:443` works for both families; returns them around IPv6 only. */
export function readRelayAddress(text: string): string | undefined {
  const parts = /^(?:\[([^[\]]+)\]|([^[\]]+)):([0-9]{1,5})$/.exec(text);
  const address = parts?.[1] ?? parts?.[2] ?? "";
  const port = Number(parts?.[3] ?? 0);
  if (port < 1 || port > 65_535) return undefined;
  const family = address.includes("%") ? 0 : isIP(address);
  if (family === 0) return undefined;
  return family === 6 ? `[${address}]:${port}` : `${address}:${port}`;
}
