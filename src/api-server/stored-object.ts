/**
 * Reads and changes single objects. Changes are JSON patches, so fields of newer APIs are preserved; each contains
 * the resourceVersion that was read, so the API server responds with 409 after a concurrent write.
 */
import { isRawObject, objectAt, objectsAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";
import type { ApiRequest, ApiResponse, SendRequest } from "./api-request.ts";

/** `conflict`: another client wrote first, so nothing was changed. */
export type WriteResult = "done" | "conflict";

/** An unresponsive server must not delay the next reconciliation. */
const CALL_LIMIT_MS = 10_000;

export type Operation = { readonly op: "replace" | "add" | "remove"; readonly path: string; readonly value?: unknown };

export function requireResourceVersion(resourceVersion: string): Operation {
  return { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion };
}

export function resourceVersionOf(object: RawObject): string {
  return textAt(objectAt(object, "metadata"), "resourceVersion") ?? "";
}

export function encodeBase64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}

export function decodeBase64(value: unknown): string {
  return typeof value === "string" ? Buffer.from(value, "base64").toString("utf8") : "";
}

export async function readObject(
  request: SendRequest,
  path: string,
  displayName: string,
): Promise<RawObject | undefined> {
  const response = await send(request, { method: "GET", path }, `read ${displayName}`);
  if (response.status === 404) return undefined;
  const object = parseObject(response.text);
  if (response.status !== 200 || object === undefined) throw createStatusError(`read ${displayName}`, response);
  return object;
}

export async function writeObject(
  request: SendRequest,
  write: Pick<ApiRequest, "method" | "path" | "body">,
  displayName: string,
): Promise<WriteResult> {
  const action = `${write.method === "POST" ? "create" : "change"} ${displayName}`;
  const response = await send(request, write, action);
  if (response.status === 200 || response.status === 201) return "done";
  if (isConflict(write.method, response)) return "conflict";
  throw createStatusError(action, response);
}

async function send(
  request: SendRequest,
  apiRequest: Pick<ApiRequest, "method" | "path" | "body">,
  action: string,
): Promise<ApiResponse> {
  try {
    return await request({ ...apiRequest, limitMs: CALL_LIMIT_MS });
  } catch (error) {
    throw new Error(`cannot ${action}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** 404: the object was deleted after it was read. 422 without causes: a path of the patch no longer exists. */
function isConflict(method: string, { status, text }: ApiResponse): boolean {
  if (status === 409) return true;
  if (method !== "PATCH") return false;
  return status === 404 || (status === 422 && objectsAt(objectAt(parseObject(text), "details"), "causes").length === 0);
}

function createStatusError(action: string, { status, text }: ApiResponse): Error {
  const message = textAt(parseObject(text), "message") ?? text.slice(0, 200);
  return new Error(`cannot ${action}: the API server responded with ${status} ${message}`.trim());
}

function parseObject(text: string): RawObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRawObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
