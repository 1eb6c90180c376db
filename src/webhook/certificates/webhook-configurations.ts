/** Reads and writes the caBundles of a MutatingWebhookConfiguration, and of its copy with failurePolicy Fail if any. */
import type { SendRequest } from "../../api-server/api-request.ts";
import {
  base64,
  decodeBase64,
  type Operation,
  readObject,
  requireResourceVersion,
  resourceVersionOf,
  type WriteResult,
  writeObject,
} from "../../api-server/stored-object.ts";
import { pemBlocks } from "../../authority/certificate.ts";
import { objectAt, objectsAt, type RawObject } from "../../kubernetes/raw-json.ts";

export type WebhookConfiguration = {
  readonly resourceVersion: string;
  /** PEM text of each webhook's caBundle, the webhooks of the copy last; "" for a webhook without a caBundle. */
  readonly bundles: readonly string[];
  /** `webhooks`: number of webhooks of the copy. */
  readonly copy?: { readonly resourceVersion: string; readonly webhooks: number };
};

/** Every function rejects when the API server is unreachable or refuses the request. */
export type WebhookConfigurations = {
  readonly title: string;
  readonly read: () => Promise<WebhookConfiguration | undefined>;
  /** Sets only the caBundle of every webhook; `conflict` if the object has changed since `current` was read. */
  readonly writeBundle: (current: WebhookConfiguration, bundle: string) => Promise<WriteResult>;
};

export const UNTRUSTED = "the webhook configuration does not trust the certificate";

export type BundleEvent =
  | { readonly kind: "bundle-written"; readonly cas: number }
  | { readonly kind: "conflict"; readonly on: "configuration" };

export type BundlePorts = {
  readonly configurations: WebhookConfigurations;
  readonly recordEvent: (event: BundleEvent) => void;
};

export async function readExisting({ read, title }: WebhookConfigurations): Promise<WebhookConfiguration> {
  const found = await read();
  if (found === undefined) throw new Error(`${title} does not exist`);
  return found;
}

export async function publishBundle(
  { configurations, recordEvent }: BundlePorts,
  current: WebhookConfiguration,
  bundle: string,
): Promise<void> {
  const written = await configurations.writeBundle(current, bundle);
  if (written === "done") recordEvent({ kind: "bundle-written", cas: pemBlocks(bundle).blocks.length });
  else recordEvent({ kind: "conflict", on: "configuration" });
}

export function webhookConfigurations(request: SendRequest, name: string, copyName = ""): WebhookConfigurations {
  const title = configurationTitle(name);
  const write = (targetName: string, version: string, webhooks: number, bundle: string): Promise<WriteResult> => {
    const body = JSON.stringify(bundlePatch(version, webhooks, bundle));
    return writeObject(
      request,
      { method: "PATCH", path: configurationPath(targetName), body },
      configurationTitle(targetName),
    );
  };
  return {
    title,
    read: async () => {
      const found = await readObject(request, configurationPath(name), title);
      if (found === undefined) return undefined;
      const own = { resourceVersion: resourceVersionOf(found), bundles: bundlesIn(found) };
      const copy =
        copyName === ""
          ? undefined
          : await readObject(request, configurationPath(copyName), configurationTitle(copyName));
      const copyBundles = copy === undefined ? [] : bundlesIn(copy);
      if (copy === undefined || copyBundles.length === 0) return own;
      const bundles = [...own.bundles, ...copyBundles];
      return { ...own, bundles, copy: { resourceVersion: resourceVersionOf(copy), webhooks: copyBundles.length } };
    },
    writeBundle: async ({ resourceVersion, bundles, copy }, bundle) => {
      const written = await write(name, resourceVersion, bundles.length - (copy?.webhooks ?? 0), bundle);
      if (written !== "done" || copy === undefined) return written;
      return write(copyName, copy.resourceVersion, copy.webhooks, bundle);
    },
  };
}

export function configurationPath(name: string): string {
  return `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${name}`;
}

export function configurationTitle(name: string): string {
  return `MutatingWebhookConfiguration ${name}`;
}

function bundlesIn(configuration: RawObject): readonly string[] {
  return objectsAt(configuration, "webhooks").map((webhook) =>
    decodeBase64(objectAt(webhook, "clientConfig")?.["caBundle"]),
  );
}

function bundlePatch(version: string, webhooks: number, bundle: string): readonly Operation[] {
  const value = base64(bundle);
  const paths = Array.from({ length: webhooks }, (_, index) => `/webhooks/${index}/clientConfig/caBundle`);
  return [requireResourceVersion(version), ...paths.map((path) => ({ op: "add" as const, path, value }))];
}
