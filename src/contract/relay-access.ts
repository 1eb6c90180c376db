/** Defines the relay variables that injection writes into a Pod. API clients that may read the Pod can read these values. */

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
  readonly existingAccess: RelayAccess | undefined;
};

/** Returns `undefined` without a relay. Must not block, because every admission waits for the result. */
export type IssueRelayAccess = (request: RelayAccessRequest) => RelayAccess | undefined;
