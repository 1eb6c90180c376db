/** What the API server says to everything but a watch. Pure, apart from the store it changes. */
import jsonPatch, { type Operation } from "fast-json-patch";
import { type Json, listAt, objectAt, textAt } from "../json-reading.ts";
import { type Asked, apiVersionOf, askedFor } from "./api-resources.ts";
import type { ObjectStore } from "./object-store.ts";

type ApiCall = {
  readonly method: string;
  readonly path: string;
  readonly contentType: string;
  /** JSON; empty when there is none. */
  readonly body: string;
};

export type ApiAnswer = { readonly status: number; readonly body: Json };

/** Version of the demo's API server and of its node; a cluster of this version has native sidecars and mounts images. */
export const SERVER_VERSION = "v1.37.0";

/** Lists come whole: a server may leave `limit` unobserved, and the demo's are short. */
export function answerTo(call: ApiCall, store: ObjectStore): ApiAnswer {
  if (call.path === "/version" && call.method === "GET")
    return { status: 200, body: { major: "1", minor: "37", gitVersion: SERVER_VERSION } };
  const asked = askedFor(call.path);
  if (asked === undefined) return refusal(404, "NotFound", "the demo's API server does not keep such objects");
  if (call.method === "GET") return asked.name === "" ? listed(asked, store) : got(asked, store);
  if (call.method === "POST" && asked.name === "") return created(asked, call, store);
  if (call.method === "PATCH" && asked.name !== "") return patched(asked, call, store);
  return refusal(405, "MethodNotAllowed", `the demo's API server does not ${call.method} ${asked.resource.resource}`);
}

export function refusal(code: number, reason: string, message: string): ApiAnswer {
  const body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
  return { status: code, body };
}

function listed({ resource, namespace }: Asked, store: ObjectStore): ApiAnswer {
  const body = {
    kind: `${resource.kind}List`,
    apiVersion: apiVersionOf(resource),
    metadata: { resourceVersion: String(store.version()) },
    // What is in a list says its kind only once, above.
    items: store.list(resource, namespace).map(({ kind: _kind, apiVersion: _apiVersion, ...object }) => object),
  };
  return { status: 200, body };
}

function got({ resource, namespace, name }: Asked, store: ObjectStore): ApiAnswer {
  const object = store.get(resource, namespace, name);
  return object === undefined ? missing(resource.resource, name) : { status: 200, body: object };
}

function created({ resource, namespace }: Asked, call: ApiCall, store: ObjectStore): ApiAnswer {
  const object = objectIn(call.body);
  const name = textAt(object, "metadata", "name") ?? "";
  if (name === "") return refusal(422, "Invalid", "metadata.name is missing, or the body is no object");
  if ((textAt(object, "metadata", "namespace") ?? namespace) !== namespace)
    return refusal(400, "BadRequest", "the namespace of the object is not the namespace of the request");
  if (store.get(resource, namespace, name) !== undefined)
    return refusal(409, "AlreadyExists", `${resource.resource} "${name}" already exists`);
  const metadata = { ...objectAt(object, "metadata"), ...(namespace === "" ? {} : { namespace }) };
  return { status: 201, body: store.put(resource, { ...object, metadata }) };
}

/** RFC 6902 only. A version in the result that is not the stored one is a lost race, as in a real API server. */
function patched({ resource, namespace, name }: Asked, call: ApiCall, store: ObjectStore): ApiAnswer {
  if (!call.contentType.startsWith("application/json-patch+json"))
    return refusal(415, "UnsupportedMediaType", "only application/json-patch+json is understood here");
  const before = store.get(resource, namespace, name);
  if (before === undefined) return missing(resource.resource, name);
  const after = applied(before, call.body);
  if (after === undefined) return refusal(422, "Invalid", "the patch does not apply");
  if (textAt(after, "metadata", "resourceVersion") !== textAt(before, "metadata", "resourceVersion"))
    return refusal(409, "Conflict", `the object has been modified; apply your changes to the latest ${name}`);
  return { status: 200, body: store.put(resource, after) };
}

function missing(resource: string, name: string): ApiAnswer {
  return refusal(404, "NotFound", `${resource} "${name}" not found`);
}

function applied(object: Json, body: string): Json | undefined {
  try {
    const operations: Operation[] = listAt({ value: JSON.parse(body) }, "value").filter(isOperation);
    return objectAt({ value: jsonPatch.applyPatch(structuredClone(object), operations, true).newDocument }, "value");
  } catch {
    return undefined;
  }
}

function isOperation(item: unknown): item is Operation {
  return textAt(item, "op") !== undefined && textAt(item, "path") !== undefined;
}

function objectIn(body: string): Json {
  try {
    return objectAt({ value: JSON.parse(body) }, "value");
  } catch {
    return {};
  }
}
