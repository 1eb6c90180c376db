/** What a Pod gets at injection to reach the relay. Anyone who may read the Pod can read all of it. */

/** The values of the relay's variables in `manager-environment.ts`. */
export type RelayAccess = {
  /** `ADDRESS:PORT`. */
  readonly address: string;
  readonly serverName: string;
  /** Base64 of the DER. */
  readonly ca: string;
  readonly credential: string;
};

export type RelayAccessQuestion = {
  readonly namespace: string;
  readonly ownerKind: string;
  readonly ownerName: string;
  readonly ownerUid: string;
  /** The variables the Pod carries already; a credential that is good for its namespace is kept. */
  readonly standing: RelayAccess | undefined;
};

/** `undefined` where there is no relay. Answers at once: it stands in the path of admissions. */
export type GiveRelayAccess = (question: RelayAccessQuestion) => RelayAccess | undefined;
