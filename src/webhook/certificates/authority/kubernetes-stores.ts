/**
 * The stores of `stores.ts` over the real API. Only patches are sent, so that fields of a newer API survive; each names the
 * version that was read, so that the API server answers 409 when it has changed.
 */

import type { ApiAnswer, ApiQuestion, AskApi } from "../../../api-server/api-request.ts";
import { isRawObject, objectAt, objectsAt, type RawObject, textAt } from "../../../kubernetes/raw-json.ts";
import type { SecretStore, StoredSecret, WebhookConfiguration, WebhookConfigurations, Written } from "./stores.ts";

/** Longest time for one call, in milliseconds: a server that is silent must not hold up every later look. */
const CALL_LIMIT_MS = 10_000;

export function secretStore(ask: AskApi, namespace: string, name: string): SecretStore {
  const what = `Secret ${namespace}/${name}`;
  const folder = `/api/v1/namespaces/${namespace}/secrets`;
  return {
    read: async () => {
      const found = await read(ask, `${folder}/${name}`, what);
      if (found === undefined) return undefined;
      const entries = Object.entries(objectAt(found, "data") ?? {}).map(
        ([key, value]) => [key, decoded(value)] as const,
      );
      return { resourceVersion: versionOf(found), data: Object.fromEntries(entries) };
    },
    create: (data) => {
      // No label: what we would own with another value than the chart's would stop every later upgrade.
      const metadata = { name, namespace };
      const encoded = Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)]));
      const secret = { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data: encoded };
      return write(ask, { method: "POST", path: folder, body: JSON.stringify(secret) }, what);
    },
    update: (seen, changes) =>
      write(
        ask,
        { method: "PATCH", path: `${folder}/${name}`, body: JSON.stringify(secretPatch(seen, changes)) },
        what,
      ),
  };
}

export function webhookConfigurations(ask: AskApi, name: string): WebhookConfigurations {
  const what = `MutatingWebhookConfiguration ${name}`;
  const path = `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${name}`;
  return {
    what,
    read: async () => {
      const found = await read(ask, path, what);
      if (found === undefined) return undefined;
      const webhooks = objectsAt(found, "webhooks");
      const bundles = webhooks.map((webhook) => decoded(objectAt(webhook, "clientConfig")?.["caBundle"]));
      return { resourceVersion: versionOf(found), bundles };
    },
    writeBundle: (seen, bundle) =>
      write(ask, { method: "PATCH", path, body: JSON.stringify(bundlePatch(seen, bundle)) }, what),
  };
}

type Operation = { readonly op: "replace" | "add" | "remove"; readonly path: string; readonly value?: unknown };

function secretPatch(seen: StoredSecret, changes: Readonly<Record<string, string | undefined>>): readonly Operation[] {
  const operations: Operation[] = [atVersion(seen.resourceVersion)];
  if (Object.keys(seen.data).length === 0) operations.push({ op: "add", path: "/data", value: {} });
  for (const [key, text] of Object.entries(changes)) {
    if (text !== undefined) operations.push({ op: "add", path: `/data/${key}`, value: base64(text) });
    else if (Object.hasOwn(seen.data, key)) operations.push({ op: "remove", path: `/data/${key}` });
  }
  return operations;
}

function bundlePatch(seen: WebhookConfiguration, bundle: string): readonly Operation[] {
  const value = base64(bundle);
  const paths = seen.bundles.map((_, index) => `/webhooks/${index}/clientConfig/caBundle`);
  return [atVersion(seen.resourceVersion), ...paths.map((path) => ({ op: "add" as const, path, value }))];
}

function atVersion(resourceVersion: string): Operation {
  return { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion };
}

function versionOf(object: RawObject): string {
  return textAt(objectAt(object, "metadata"), "resourceVersion") ?? "";
}

function base64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}

function decoded(value: unknown): string {
  return typeof value === "string" ? Buffer.from(value, "base64").toString("utf8") : "";
}

async function read(ask: AskApi, path: string, what: string): Promise<RawObject | undefined> {
  const answer = await asked(ask, { method: "GET", path }, `read ${what}`);
  if (answer.status === 404) return undefined;
  const object = parsed(answer.text);
  if (answer.status !== 200 || object === undefined) throw refused(`read ${what}`, answer);
  return object;
}

async function write(
  ask: AskApi,
  question: Pick<ApiQuestion, "method" | "path" | "body">,
  what: string,
): Promise<Written> {
  const doing = `${question.method === "POST" ? "create" : "change"} ${what}`;
  const answer = await asked(ask, question, doing);
  if (answer.status === 200 || answer.status === 201) return "done";
  if (isLostRace(question.method, answer)) return "conflict";
  throw refused(doing, answer);
}

async function asked(
  ask: AskApi,
  question: Pick<ApiQuestion, "method" | "path" | "body">,
  doing: string,
): Promise<ApiAnswer> {
  try {
    return await ask({ ...question, limitMs: CALL_LIMIT_MS });
  } catch (error) {
    throw new Error(`cannot ${doing}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** 404: deleted since it was read. 422 without a cause: what the patch speaks of is not there any more. */
function isLostRace(method: string, { status, text }: ApiAnswer): boolean {
  if (status === 409) return true;
  if (method !== "PATCH") return false;
  return status === 404 || (status === 422 && objectsAt(objectAt(parsed(text), "details"), "causes").length === 0);
}

function refused(doing: string, { status, text }: ApiAnswer): Error {
  const message = textAt(parsed(text), "message") ?? text.slice(0, 200);
  return new Error(`the API server does not let us ${doing}: ${status} ${message}`.trim());
}

function parsed(text: string): RawObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRawObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
