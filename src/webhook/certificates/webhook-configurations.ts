/** Reads and writes the caBundles of a MutatingWebhookConfiguration, and of its copy with failurePolicy Fail, if the copy exists. */
import type { SendRequest } from "../../api-server/api-request.ts";
import {
  decodeBase64,
  encodeBase64,
  type Operation,
  readObject,
  requireResourceVersion,
  resourceVersionOf,
  type WriteResult,
  writeObject,
} from "../../api-server/stored-object.ts";
import { parsePemBlocks } from "../../authority/certificate.ts";
import { objectAt, objectsAt, type RawObject } from "../../kubernetes/raw-json.ts";

export type WebhookConfiguration = {
  readonly resourceVersion: string;
  /** PEM text of each webhook's caBundle, the webhooks of the copy last; "" for a webhook without a caBundle. */
  readonly bundles: readonly string[];
  readonly copy?: { readonly resourceVersion: string; readonly webhookCount: number };
};

/** Every function rejects when the API server is unreachable or refuses the request. */
export type WebhookConfigurations = {
  readonly displayName: string;
  readonly read: () => Promise<WebhookConfiguration | undefined>;
  /** Sets only the caBundle of every webhook; `conflict` if the object has changed since `current` was read. */
  readonly writeBundle: (current: WebhookConfiguration, bundle: string) => Promise<WriteResult>;
};

export const UNTRUSTED = "the webhook configuration has a caBundle without the CA of the webhook's certificate";

export type BundleEvent =
  | { readonly kind: "bundle-written"; readonly cas: number }
  | { readonly kind: "conflict"; readonly on: "configuration" };

export type BundlePorts = {
  readonly configurations: WebhookConfigurations;
  readonly recordEvent: (event: BundleEvent) => void;
};

export async function readExisting({ read, displayName }: WebhookConfigurations): Promise<WebhookConfiguration> {
  const configuration = await read();
  if (configuration === undefined) throw new Error(`${displayName} does not exist`);
  return configuration;
}

export async function publishBundle(
  { configurations, recordEvent }: BundlePorts,
  current: WebhookConfiguration,
  bundle: string,
): Promise<void> {
  const result = await configurations.writeBundle(current, bundle);
  if (result === "done") recordEvent({ kind: "bundle-written", cas: parsePemBlocks(bundle).blocks.length });
  else recordEvent({ kind: "conflict", on: "configuration" });
}

export function webhookConfigurations(request: SendRequest, name: string, copyName = ""): WebhookConfigurations {
  const displayName = configurationDisplayName(name);
  const write = (targetName: string, version: string, webhookCount: number, bundle: string): Promise<WriteResult> => {
    const body = JSON.stringify(bundlePatch(version, webhookCount, bundle));
    return writeObject(
      request,
      { method: "PATCH", path: configurationPath(targetName), body },
      configurationDisplayName(targetName),
    );
  };
  return {
    displayName,
    read: async () => {
      const configuration = await readObject(request, configurationPath(name), displayName);
      if (configuration === undefined) return undefined;
      const original = { resourceVersion: resourceVersionOf(configuration), bundles: bundlesIn(configuration) };
      const copy =
        copyName === ""
          ? undefined
          : await readObject(request, configurationPath(copyName), configurationDisplayName(copyName));
      const copyBundles = copy === undefined ? [] : bundlesIn(copy);
      if (copy === undefined || copyBundles.length === 0) return original;
      const bundles = [...original.bundles, ...copyBundles];
      return {
        ...original,
        bundles,
        copy: { resourceVersion: resourceVersionOf(copy), webhookCount: copyBundles.length },
      };
    },
    writeBundle: async ({ resourceVersion, bundles, copy }, bundle) => {
      const result = await write(name, resourceVersion, bundles.length - (copy?.webhookCount ?? 0), bundle);
      if (result !== "done" || copy === undefined) return result;
      return write(copyName, copy.resourceVersion, copy.webhookCount, bundle);
    },
  };
}

export function configurationPath(name: string): string {
  return `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${name}`;
}

export function configurationDisplayName(name: string): string {
  return `MutatingWebhookConfiguration ${name}`;
}

function bundlesIn(configuration: RawObject): readonly string[] {
  return objectsAt(configuration, "webhooks").map((webhook) =>
    decodeBase64(objectAt(webhook, "clientConfig")?.["caBundle"]),
  );
}

function bundlePatch(version: string, webhookCount: number, bundle: string): readonly Operation[] {
  const value = encodeBase64(bundle);
  const paths = Array.from({ length: webhookCount }, (_, index) => `/webhooks/${index}/clientConfig/caBundle`);
  return [requireResourceVersion(version), ...paths.map((path) => ({ op: "add" as const, path, value }))];
}
