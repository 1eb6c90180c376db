/** Types of the relay variables that injection writes into a Pod. Everyone who may read the Pod can read them. */

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

/** `undefined` without a relay. Must return at once: every admission waits for it. */
export type IssueRelayAccess = (request: RelayAccessRequest) => RelayAccess | undefined;
