/** How Pods of the relay's benchmark come by their credentials: as every Pod does, by being admitted. */
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { VARIABLES } from "../src/contract/manager-environment.ts";
import { isRawObject, textAt } from "../src/kubernetes/raw-json.ts";
import { reviewBytes } from "./admission-reviews.ts";
import { NAMESPACES, namespaceAt } from "./relay-world.ts";

export type Access = {
  readonly serverName: string;
  /** PEM. */
  readonly ca: string;
  /** By namespace. */
  readonly credentials: Readonly<Record<string, string>>;
};

export type WebhookPlace = { readonly port: number; readonly ca: string };

/** The relay may still be making its Secret when the webhook listens. */
const TRIES = 40;
const PAUSE_MS = 500;

/** @throws Error when Pods are admitted without access to the relay */
export async function accessOf(webhook: WebhookPlace): Promise<Access> {
  const found = new Map<string, ReadonlyMap<string, string>>();
  for (let index = 0; index < NAMESPACES; index += 1) {
    const namespace = namespaceAt(index);
    found.set(namespace, await variablesOf(webhook, namespace));
  }
  const first = found.get(namespaceAt(0)) ?? new Map<string, string>();
  const ca = (first.get(VARIABLES.relayCa) ?? "").replace(/.{64}/g, "$&\n");
  return {
    serverName: first.get(VARIABLES.relayName) ?? "",
    ca: `-----BEGIN CERTIFICATE-----\n${ca}\n-----END CERTIFICATE-----\n`,
    credentials: Object.fromEntries(
      [...found].map(([namespace, variables]) => [namespace, variables.get(VARIABLES.relayCredential) ?? ""]),
    ),
  };
}

/** The relay has a port of its own, which its webhook's log tells. @throws Error when it does not listen */
export async function relayPortIn(logFile: string): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = Number(/"relayPort":([0-9]+)/.exec(readFileSync(logFile, "utf8"))?.[1] ?? 0);
    if (port !== 0) return port;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  throw new Error("the relay does not listen");
}

async function variablesOf(webhook: WebhookPlace, namespace: string): Promise<ReadonlyMap<string, string>> {
  const review = JSON.parse(reviewBytes("small").toString("utf8"));
  review.request.namespace = namespace;
  review.request.object.metadata.namespace = namespace;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const answer = JSON.parse(await call(webhook, "/mutate", JSON.stringify(review)));
    const patch = Buffer.from(answer.response.patch ?? "", "base64").toString("utf8");
    const variables = new Map(variablesIn(patch === "" ? [] : JSON.parse(patch)));
    if (variables.has(VARIABLES.relayCredential)) return variables;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  throw new Error("Pods are admitted without access to the relay");
}

/** Wherever in the patch they stand. */
function variablesIn(value: unknown): readonly (readonly [string, string])[] {
  if (Array.isArray(value)) return value.flatMap(variablesIn);
  if (!isRawObject(value)) return [];
  const [name, text] = [textAt(value, "name"), textAt(value, "value")];
  if (name !== undefined && text !== undefined) return [[name, text]];
  return Object.values(value).flatMap(variablesIn);
}

/** One line of the metrics, or 0 where there is none. */
export async function metricOf(webhook: WebhookPlace, name: string): Promise<number> {
  const text = await call(webhook, "/metrics");
  return Number(new RegExp(`^${name} ([0-9.e+]+)$`, "m").exec(text)?.[1] ?? 0);
}

function call({ port, ca }: WebhookPlace, path: string, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const method = body === undefined ? "GET" : "POST";
    const where = { host: "127.0.0.1", port, ca, servername: "localhost", agent: false as const };
    const sent = request({ ...where, path, method, headers }, (reply) => {
      let text = "";
      reply.setEncoding("utf8");
      reply.on("data", (chunk: string) => {
        text += chunk;
      });
      reply.on("end", () => resolve(text));
      reply.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** The webhook's file that says where the API server is. */
export function kubeconfigText(apiPort: number, ca: string): string {
  const authority = Buffer.from(ca).toString("base64");
  const cluster = { server: `https://127.0.0.1:${apiPort}`, "certificate-authority-data": authority };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "bench", cluster }],
    users: [{ name: "bench", user: { token: "bench" } }],
    contexts: [{ name: "bench", context: { cluster: "bench", user: "bench" } }],
    "current-context": "bench",
  });
}
