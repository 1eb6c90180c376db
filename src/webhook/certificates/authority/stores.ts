/** What the authority needs from the API server, as function types. A lost race is an answer, everything else is thrown. */

/** Somebody else wrote first: nothing was changed, read again. */
export type Written = "done" | "conflict";

export type StoredSecret = {
  readonly resourceVersion: string;
  /** Decoded as UTF-8. */
  readonly data: Readonly<Record<string, string>>;
};

/** One Secret by name. Every function rejects when the API server cannot be asked or refuses. */
export type SecretStore = {
  /** As it is now, never from a cache; `undefined` when there is none. */
  readonly read: () => Promise<StoredSecret | undefined>;
  /** `conflict` when there is one already. */
  readonly create: (data: Readonly<Record<string, string>>) => Promise<Written>;
  /** Changes these entries only, `undefined` removes one; `conflict` when the Secret is no longer the one that was read. */
  readonly update: (seen: StoredSecret, changes: Readonly<Record<string, string | undefined>>) => Promise<Written>;
};

export type WebhookConfiguration = {
  readonly resourceVersion: string;
  /** One text of PEM certificates per webhook, in the order of the configuration; empty when there is none. */
  readonly bundles: readonly string[];
};

/** One MutatingWebhookConfiguration by name. Every function rejects when the API server cannot be asked or refuses. */
export type WebhookConfigurations = {
  /** Kind and name, for sentences. */
  readonly what: string;
  /** As it is now, never from a cache; `undefined` when there is none. */
  readonly read: () => Promise<WebhookConfiguration | undefined>;
  /** Sets the caBundle of every webhook and no other field; `conflict` when it is no longer the one that was read. */
  readonly writeBundle: (seen: WebhookConfiguration, bundle: string) => Promise<Written>;
};
