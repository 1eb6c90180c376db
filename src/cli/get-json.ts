/** Sends one GET request and parses the JSON response. */
import type { ApiResponse, SendRequest } from "../api-server/api-request.ts";
import { plainText } from "../contract/untrusted-text.ts";
import { isRawObject, textAt } from "../kubernetes/raw-json.ts";

const MESSAGE_LIMIT = 300;

type JsonRequest = { readonly path: string; readonly limitMs: number; readonly signal: AbortSignal };

type JsonResult =
  | { readonly ok: true; readonly value: unknown }
  /** `status` 0: no response. */
  | { readonly ok: false; readonly status: number; readonly message: string };

export async function getJson(request: SendRequest, options: JsonRequest): Promise<JsonResult> {
  let response: ApiResponse;
  try {
    response = await request({ method: "GET", ...options });
  } catch (error) {
    return { ok: false, status: 0, message: error instanceof Error ? error.message : String(error) };
  }
  const value = parseJson(response.text);
  if (response.status !== 200) return { ok: false, status: response.status, message: errorMessage(response, value) };
  if (value === undefined) return { ok: false, status: response.status, message: "the response is not JSON" };
  return { ok: true, value };
}

/** The API server returns a Status object; a proxy in front of it may return anything. */
function errorMessage({ status, text }: ApiResponse, value: unknown): string {
  if (status === 401) return "401, the API server rejected the credentials";
  const message =
    (isRawObject(value) ? textAt(value, "message") : undefined) ??
    text.slice(0, MESSAGE_LIMIT).trim().split("\n", 1)[0] ??
    "";
  return message === "" ? `HTTP status ${status}` : `${status}, ${plainText(message, MESSAGE_LIMIT)}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
