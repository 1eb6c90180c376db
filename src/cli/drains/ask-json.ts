/** One question to the API server, answered by JSON or by a sentence about what went wrong. */
import type { ApiResponse, SendRequest } from "../../api-server/api-request.ts";
import { plainText } from "../../contract/untrusted-text.ts";
import { isRawObject, textAt } from "../../kubernetes/raw-json.ts";

/** In characters of what a refusal says. */
const SAID_LIMIT = 300;

type JsonQuestion = { readonly path: string; readonly limitMs: number; readonly signal: AbortSignal };

type JsonAnswer =
  | { readonly ok: true; readonly value: unknown }
  /** `status` 0: no answer came. */
  | { readonly ok: false; readonly status: number; readonly message: string };

export async function askJson(request: SendRequest, question: JsonQuestion): Promise<JsonAnswer> {
  let answer: ApiResponse;
  try {
    answer = await request({ method: "GET", ...question });
  } catch (error) {
    return { ok: false, status: 0, message: error instanceof Error ? error.message : String(error) };
  }
  const value = parsed(answer.text);
  if (answer.status !== 200) return { ok: false, status: answer.status, message: refusal(answer, value) };
  if (value === undefined) return { ok: false, status: answer.status, message: "the answer is not JSON" };
  return { ok: true, value };
}

/** Refusals are objects of kind Status; what a proxy reached may say anything. */
function refusal({ status, text }: ApiResponse, value: unknown): string {
  if (status === 401) return "401, the API server does not accept these credentials";
  const said =
    (isRawObject(value) ? textAt(value, "message") : undefined) ??
    text.slice(0, SAID_LIMIT).trim().split("\n", 1)[0] ??
    "";
  return said === "" ? `the answer is ${status}` : `${status}, ${plainText(said, SAID_LIMIT)}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
