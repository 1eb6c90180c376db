/** The webhook configuration whose caBundle is kept right. A lost race is an answer, everything else is thrown. */
import type { AskApi } from "../../../api-server/api-request.ts";
import {
  atVersion,
  base64,
  decoded,
  type Operation,
  readObject,
  versionOf,
  type Written,
  writeObject,
} from "../../../api-server/stored-object.ts";
import { objectAt, objectsAt } from "../../../kubernetes/raw-json.ts";

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

export function webhookConfigurations(ask: AskApi, name: string): WebhookConfigurations {
  const what = `MutatingWebhookConfiguration ${name}`;
  const path = `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${name}`;
  return {
    what,
    read: async () => {
      const found = await readObject(ask, path, what);
      if (found === undefined) return undefined;
      const webhooks = objectsAt(found, "webhooks");
      const bundles = webhooks.map((webhook) => decoded(objectAt(webhook, "clientConfig")?.["caBundle"]));
      return { resourceVersion: versionOf(found), bundles };
    },
    writeBundle: (seen, bundle) =>
      writeObject(ask, { method: "PATCH", path, body: JSON.stringify(bundlePatch(seen, bundle)) }, what),
  };
}

function bundlePatch(seen: WebhookConfiguration, bundle: string): readonly Operation[] {
  const value = base64(bundle);
  const paths = seen.bundles.map((_, index) => `/webhooks/${index}/clientConfig/caBundle`);
  return [atVersion(seen.resourceVersion), ...paths.map((path) => ({ op: "add" as const, path, value }))];
}
