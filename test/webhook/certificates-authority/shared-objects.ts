/** Describes the objects of an API server that replicas share: the Secret of their CA and a webhook configuration. */
import type { FakeApiServer, FakeObject } from "../../api-server/fake-api-server.ts";

type Webhook = { name: string; clientConfig: { caBundle?: string; service: unknown }; futureField?: string };

export type Configuration = FakeObject & { readonly webhooks: readonly Webhook[] };

export const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
export const CONFIGURATION = `${CONFIGURATIONS}/drain.lastcall.dev`;
export const SECRETS = "/api/v1/namespaces/lastcall/secrets";

/** Creates a configuration as the chart installs it, without a caBundle, and with a field that the webhook does not use. */
export function createConfiguration(): Configuration {
  const createWebhook = (name: string): Webhook => ({
    name,
    clientConfig: { service: { name: "lastcall-webhook", namespace: "lastcall" } },
    futureField: "kept",
  });
  return {
    metadata: { name: "drain.lastcall.dev", labels: { a: "b" } },
    webhooks: [createWebhook("pods.drain.lastcall.dev"), createWebhook("labelled.drain.lastcall.dev")],
  };
}

/** Returns the decoded caBundle of each webhook. */
export function bundlesIn(api: FakeApiServer): readonly string[] {
  return bundlesOf(api.find(CONFIGURATION));
}

/** Returns the caBundle that the first webhook had `ms` milliseconds ago. */
export function pastBundleOf(api: FakeApiServer, ms: number): string {
  const untilMs = performance.now() - ms;
  const change = api.changes.findLast(({ path, atMs }) => path === CONFIGURATIONS && atMs <= untilMs);
  return bundlesOf(change?.object)[0] ?? "";
}

function bundlesOf(configuration: FakeObject | undefined): readonly string[] {
  const { webhooks } = (configuration ?? { webhooks: [] }) as Pick<Configuration, "webhooks">;
  return webhooks.map((webhook) => Buffer.from(webhook.clientConfig.caBundle ?? "", "base64").toString());
}
