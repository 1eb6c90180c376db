/**
 * One object of the API server, read and changed. Only patches are sent, so that fields of a newer API survive; each names
 * the version that was read, so that the API server answers 409 when it has changed.
 */
import { isRawObject, objectAt, objectsAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";
import type { ApiAnswer, ApiQuestion, AskApi } from "./api-request.ts";

/** Another client wrote first: nothing was changed, read again. */
export type Written = "done" | "conflict";

/** Longest time for one call, in milliseconds: a server that is silent must not hold up every later look. */
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

export function decoded(value: unknown): string {
  return typeof value === "string" ? Buffer.from(value, "base64").toString("utf8") : "";
}

export async function readObject(ask: AskApi, path: string, what: string): Promise<RawObject | undefined> {
  const answer = await asked(ask, { method: "GET", path }, `read ${what}`);
  if (answer.status === 404) return undefined;
  const object = parsed(answer.text);
  if (answer.status !== 200 || object === undefined) throw refused(`read ${what}`, answer);
  return object;
}

export async function writeObject(
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
