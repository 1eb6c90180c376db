/** Defines the relay variables that injection writes into a Pod. Clients that may read the Pod can read them. */

export type RelayAccess = {
  readonly address: string;
  readonly serverName: string;
  /** Base64 of the DER. */
  readonly ca: string;
  readonly credential: string;
};

export type RelayAccessRequest = {
  readonly namespace: string;
  readonly ownerKind: string;
  readonly ownerName: string;
  readonly ownerUid: string;
  /** Variables of an earlier admission; a credential that is valid for the namespace is kept. */
  readonly existing: RelayAccess | undefined;
};

/** Returns `undefined` without a relay. Must not block: every admission waits for it. */
export type IssueRelayAccess = (request: RelayAccessRequest) => RelayAccess | undefined;
