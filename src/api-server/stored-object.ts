/**
 * Reads and changes single objects. Changes are JSON patches, so fields of newer APIs survive; each tests the
 * resourceVersion that was read, so the API server answers 409 after a concurrent write.
 */
import { isRawObject, objectAt, objectsAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";
import type { ApiRequest, ApiResponse, SendRequest } from "./api-request.ts";

/** `conflict`: another client wrote first, nothing was changed. */
export type WriteResult = "done" | "conflict";

/** A silent server must not delay the next reconciliation. */
const CALL_LIMIT_MS = 10_000;

export type Operation = { readonly op: "replace" | "add" | "remove"; readonly path: string; readonly value?: unknown };

export function atVersion(resourceVersion: string): Operation {
  return { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion };
}

export function versionOf(object: RawObject): string {
  return textAt(objectAt(object, "metadata"), "resourceVersion") ?? "";
}

export function base64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}

export function decodeBase64(value: unknown): string {
  return typeof value === "string" ? Buffer.from(value, "base64").toString("utf8") : "";
}

export async function readObject(request: SendRequest, path: string, what: string): Promise<RawObject | undefined> {
  const answer = await send(request, { method: "GET", path }, `read ${what}`);
  if (answer.status === 404) return undefined;
  const object = parseObject(answer.text);
  if (answer.status !== 200 || object === undefined) throw refusalError(`read ${what}`, answer);
  return object;
}

export async function writeObject(
  request: SendRequest,
  call: Pick<ApiRequest, "method" | "path" | "body">,
  what: string,
): Promise<WriteResult> {
  const doing = `${call.method === "POST" ? "create" : "change"} ${what}`;
  const answer = await send(request, call, doing);
  if (answer.status === 200 || answer.status === 201) return "done";
  if (isLostRace(call.method, answer)) return "conflict";
  throw refusalError(doing, answer);
}

async function send(
  request: SendRequest,
  call: Pick<ApiRequest, "method" | "path" | "body">,
  doing: string,
): Promise<ApiResponse> {
  try {
    return await request({ ...call, limitMs: CALL_LIMIT_MS });
  } catch (error) {
    throw new Error(`cannot ${doing}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** 404: deleted since it was read. 422 without causes: a path of the patch no longer exists. */
function isLostRace(method: string, { status, text }: ApiResponse): boolean {
  if (status === 409) return true;
  if (method !== "PATCH") return false;
  return status === 404 || (status === 422 && objectsAt(objectAt(parseObject(text), "details"), "causes").length === 0);
}

function refusalError(doing: string, { status, text }: ApiResponse): Error {
  const message = textAt(parseObject(text), "message") ?? text.slice(0, 200);
  return new Error(`cannot ${doing}: the API server answered ${status} ${message}`.trim());
}

function parseObject(text: string): RawObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRawObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
