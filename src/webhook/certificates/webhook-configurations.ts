/** Reads and writes the caBundle of a webhook configuration, together with its copy that fails closed, if there is one. */
import type { SendRequest } from "../../api-server/api-request.ts";
import {
  atVersion,
  base64,
  decodeBase64,
  type Operation,
  readObject,
  versionOf,
  type WriteResult,
  writeObject,
} from "../../api-server/stored-object.ts";
import { pemBlocks } from "../../authority/certificate.ts";
import { objectAt, objectsAt, type RawObject } from "../../kubernetes/raw-json.ts";

export type WebhookConfiguration = {
  readonly resourceVersion: string;
  /** One text of PEM certificates per webhook, in the order of the configuration, those of the copy last; empty when there is none. */
  readonly bundles: readonly string[];
  /** How many of the bundles are the copy's. */
  readonly copy?: { readonly resourceVersion: string; readonly webhooks: number };
};

/** One MutatingWebhookConfiguration by name. Every function rejects when the API server cannot be asked or refuses. */
export type WebhookConfigurations = {
  /** Kind and name, for sentences. */
  readonly what: string;
  /** As it is now, never from a cache; `undefined` when there is none. */
  readonly read: () => Promise<WebhookConfiguration | undefined>;
  /** Sets the caBundle of every webhook and no other field; `conflict` when it is no longer the one that was read. */
  readonly writeBundle: (seen: WebhookConfiguration, bundle: string) => Promise<WriteResult>;
};

/** Why a replica is not ready. */
export const UNTRUSTED = "the webhook configuration does not trust the certificate";

export type BundleEvent =
  | { readonly kind: "bundle-written"; readonly cas: number }
  | { readonly kind: "conflict"; readonly on: "configuration" };

export type BundlePorts = {
  readonly configurations: WebhookConfigurations;
  readonly recordEvent: (event: BundleEvent) => void;
};

export async function readExisting({ read, what }: WebhookConfigurations): Promise<WebhookConfiguration> {
  const found = await read();
  if (found === undefined) throw new Error(`there is no ${what}`);
  return found;
}

export async function publishBundle(
  { configurations, recordEvent }: BundlePorts,
  seen: WebhookConfiguration,
  bundle: string,
): Promise<void> {
  const written = await configurations.writeBundle(seen, bundle);
  if (written === "done") recordEvent({ kind: "bundle-written", cas: pemBlocks(bundle).blocks.length });
  else recordEvent({ kind: "conflict", on: "configuration" });
}

/** @param copyName empty: there is no copy, as long as none was asked for */
export function webhookConfigurations(request: SendRequest, name: string, copyName = ""): WebhookConfigurations {
  const what = whatOf(name);
  const write = (of: string, version: string, webhooks: number, bundle: string): Promise<WriteResult> => {
    const body = JSON.stringify(bundlePatch(version, webhooks, bundle));
    return writeObject(request, { method: "PATCH", path: pathOf(of), body }, whatOf(of));
  };
  return {
    what,
    read: async () => {
      const found = await readObject(request, pathOf(name), what);
      if (found === undefined) return undefined;
      const own = { resourceVersion: versionOf(found), bundles: bundlesIn(found) };
      const copy = copyName === "" ? undefined : await readObject(request, pathOf(copyName), whatOf(copyName));
      const copied = copy === undefined ? [] : bundlesIn(copy);
      if (copy === undefined || copied.length === 0) return own;
      const bundles = [...own.bundles, ...copied];
      return { ...own, bundles, copy: { resourceVersion: versionOf(copy), webhooks: copied.length } };
    },
    writeBundle: async ({ resourceVersion, bundles, copy }, bundle) => {
      const written = await write(name, resourceVersion, bundles.length - (copy?.webhooks ?? 0), bundle);
      if (written !== "done" || copy === undefined) return written;
      return write(copyName, copy.resourceVersion, copy.webhooks, bundle);
    },
  };
}

export function pathOf(name: string): string {
  return `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${name}`;
}

export function whatOf(name: string): string {
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
  return [atVersion(version), ...paths.map((path) => ({ op: "add" as const, path, value }))];
}
