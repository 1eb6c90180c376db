/** Obtains the relay's credentials by admitting a Pod of each namespace. */
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { VARIABLES } from "../src/contract/manager-environment.ts";
import { isRawObject, textAt } from "../src/kubernetes/raw-json.ts";
import { reviewBytes } from "./admission-reviews.ts";
import { NAMESPACES, namespaceAt } from "./relay-cluster.ts";

export type RelayAccess = {
  readonly serverName: string;
  readonly caPem: string;
  readonly credentialByNamespace: Readonly<Record<string, string>>;
};

export type WebhookEndpoint = { readonly port: number; readonly ca: string };

/** The webhook may listen before the relay has created its Secret. */
const MAX_TRIES = 40;
const PAUSE_MS = 500;

export async function obtainRelayAccess(webhook: WebhookEndpoint): Promise<RelayAccess> {
  const variablesByNamespace = new Map<string, ReadonlyMap<string, string>>();
  for (let index = 0; index < NAMESPACES; index += 1) {
    const namespace = namespaceAt(index);
    variablesByNamespace.set(namespace, await readVariables(webhook, namespace));
  }
  const firstVariables = variablesByNamespace.get(namespaceAt(0)) ?? new Map<string, string>();
  const ca = (firstVariables.get(VARIABLES.relayCa) ?? "").replace(/.{64}/g, "$&\n");
  return {
    serverName: firstVariables.get(VARIABLES.relayName) ?? "",
    caPem: `-----BEGIN CERTIFICATE-----\n${ca}\n-----END CERTIFICATE-----\n`,
    credentialByNamespace: Object.fromEntries(
      [...variablesByNamespace].map(([namespace, variables]) => [
        namespace,
        variables.get(VARIABLES.relayCredential) ?? "",
      ]),
    ),
  };
}

/** Reads the relay's port from the webhook's log. @throws Error when the relay does not listen */
export async function readRelayPort(logFile: string): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const port = Number(/"relayPort":([0-9]+)/.exec(readFileSync(logFile, "utf8"))?.[1] ?? 0);
    if (port !== 0) return port;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  throw new Error(`${logFile} has no "relayPort" after ${(MAX_TRIES * PAUSE_MS) / 1_000} s: the relay does not listen`);
}

async function readVariables(webhook: WebhookEndpoint, namespace: string): Promise<ReadonlyMap<string, string>> {
  const review = JSON.parse(reviewBytes("small").toString("utf8"));
  review.request.namespace = namespace;
  review.request.object.metadata.namespace = namespace;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const reviewResponse = JSON.parse(await call(webhook, "/mutate", JSON.stringify(review)));
    const patch = Buffer.from(reviewResponse.response.patch ?? "", "base64").toString("utf8");
    const variables = new Map(variablesIn(patch === "" ? [] : JSON.parse(patch)));
    if (variables.has(VARIABLES.relayCredential)) return variables;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  throw new Error(`namespace ${namespace}: no ${VARIABLES.relayCredential} in the patches of ${MAX_TRIES} reviews`);
}

function variablesIn(value: unknown): readonly (readonly [string, string])[] {
  if (Array.isArray(value)) return value.flatMap(variablesIn);
  if (!isRawObject(value)) return [];
  const [name, text] = [textAt(value, "name"), textAt(value, "value")];
  if (name !== undefined && text !== undefined) return [[name, text]];
  return Object.values(value).flatMap(variablesIn);
}

export async function readMetric(webhook: WebhookEndpoint, name: string): Promise<number> {
  const text = await call(webhook, "/metrics");
  return Number(new RegExp(`^${name} ([0-9.e+]+)$`, "m").exec(text)?.[1] ?? 0);
}

function call({ port, ca }: WebhookEndpoint, path: string, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const method = body === undefined ? "GET" : "POST";
    const webhookOptions = { host: "127.0.0.1", port, ca, servername: "localhost", agent: false as const };
    const outgoing = request({ ...webhookOptions, path, method, headers }, (reply) => {
      let text = "";
      reply.setEncoding("utf8");
      reply.on("data", (chunk: string) => {
        text += chunk;
      });
      reply.on("end", () => resolve(text));
      reply.on("error", reject);
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

export function kubeconfigText(apiPort: number, ca: string): string {
  const caData = Buffer.from(ca).toString("base64");
  const cluster = { server: `https://127.0.0.1:${apiPort}`, "certificate-authority-data": caData };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "bench", cluster }],
    users: [{ name: "bench", user: { token: "bench" } }],
    contexts: [{ name: "bench", context: { cluster: "bench", user: "bench" } }],
    "current-context": "bench",
  });
}
