/** Stores objects as the API server does: each write changes the resourceVersion, and a write with an older version is a conflict. */
import type { StoredSecret } from "../../../src/api-server/secret-store.ts";
import type { WriteResult } from "../../../src/api-server/stored-object.ts";
import type { WebhookConfiguration } from "../../../src/webhook/certificates/webhook-configurations.ts";

/** A version of the webhook configuration, and the time for which it was the current version. */
export type ConfigurationVersion = {
  readonly bundles: readonly string[];
  readonly isByReplica: boolean;
  readonly fromMs: number;
  untilMs: number;
};

export type ApiStore = {
  readonly secret: () => StoredSecret | undefined;
  readonly setSecret: (data: Readonly<Record<string, string>> | undefined) => void;
  readonly createSecret: (data: Readonly<Record<string, string>>) => WriteResult;
  readonly updateSecret: (current: StoredSecret, changes: Readonly<Record<string, string | undefined>>) => WriteResult;
  readonly configuration: () => WebhookConfiguration | undefined;
  readonly setBundles: (bundles: readonly string[] | undefined) => void;
  readonly writeBundle: (current: WebhookConfiguration, bundle: string) => WriteResult;
  readonly versions: () => readonly ConfigurationVersion[];
  /** The number of accepted writes of replicas. */
  readonly writeCount: () => number;
};

export function createApiStore(nowMs: () => number, webhookCount: number): ApiStore {
  let version = 1;
  let writeCount = 0;
  let secret: StoredSecret | undefined;
  let configuration: WebhookConfiguration | undefined;
  const versions: ConfigurationVersion[] = [];
  const nextVersion = (): string => {
    version += 1;
    return String(version);
  };
  const setConfiguration = (bundles: readonly string[] | undefined, isByReplica: boolean): void => {
    configuration = bundles === undefined ? undefined : { resourceVersion: nextVersion(), bundles };
    const last = versions.at(-1);
    if (last !== undefined) last.untilMs = nowMs();
    versions.push({
      bundles: bundles ?? [],
      isByReplica,
      fromMs: nowMs(),
      untilMs: Number.POSITIVE_INFINITY,
    });
  };
  setConfiguration(
    Array.from({ length: webhookCount }, () => ""),
    false,
  );
  const acceptWrite = (): WriteResult => {
    writeCount += 1;
    return "done";
  };
  return {
    secret: () => secret,
    setSecret: (data) => {
      secret = data === undefined ? undefined : { resourceVersion: nextVersion(), data };
    },
    createSecret: (data) => {
      if (secret !== undefined) return "conflict";
      secret = { resourceVersion: nextVersion(), data };
      return acceptWrite();
    },
    updateSecret: (current, changes) => {
      if (secret?.resourceVersion !== current.resourceVersion) return "conflict";
      const merged = Object.entries({ ...secret.data, ...changes });
      const data = Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== undefined));
      secret = { resourceVersion: nextVersion(), data };
      return acceptWrite();
    },
    configuration: () => configuration,
    setBundles: (bundles) => setConfiguration(bundles, false),
    writeBundle: (current, bundle) => {
      if (configuration?.resourceVersion !== current.resourceVersion) return "conflict";
      setConfiguration(
        configuration.bundles.map(() => bundle),
        true,
      );
      return acceptWrite();
    },
    versions: () => versions,
    writeCount: () => writeCount,
  };
}
