/** One kind of object, whole: page after page, each reduced to what is kept before the next is read. */
import { isRawObject, objectAt, objectsAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";
import { AnswerTooLarge, ApiRefusal, type AskApi } from "./api-request.ts";
import { type Keep, keyOf, type NewEntries } from "./store.ts";

/** For one page, in milliseconds. */
const PAGE_LIMIT_MS = 30_000;

const GONE = 410;

export type Listed<T> = {
  readonly objects: ReadonlyMap<string, T>;
  /** Where a watch goes on. */
  readonly version: string;
};

type ListQuestion<T> = {
  readonly path: string;
  readonly fieldSelector?: string | undefined;
  /**
   * Most objects per page. Parsing a page holds up admissions, so large objects want small pages; a page that is too
   * large is requested again with fewer objects.
   */
  readonly pageSize: number;
  readonly keep: Keep<T>;
  readonly newEntries?: NewEntries<T> | undefined;
  readonly signal: AbortSignal;
};

/**
 * @throws ApiRefusal, or Error when an answer is no list. Nothing of a list that broke off is used: what is missing
 * in half a list would seem to be deleted.
 */
export async function listAll<T>(ask: AskApi, question: ListQuestion<T>): Promise<Listed<T>> {
  try {
    return await listPaged(ask, question, question.pageSize);
  } catch (error) {
    // The version the pages were of is no longer kept: only one answer with everything is sure to end.
    if (!(error instanceof ApiRefusal) || error.status !== GONE) throw error;
    return listPaged(ask, question, 0);
  }
}

async function listPaged<T>(ask: AskApi, question: ListQuestion<T>, pageSize: number): Promise<Listed<T>> {
  const objects = question.newEntries?.() ?? new Map<string, T>();
  let next = "";
  let size = pageSize;
  for (;;) {
    const { page, bytes, size: readSize } = await fittingPage(ask, question, size, next);
    size = afterPage(readSize, { bytes, full: pageSize });
    for (const object of objectsAt(page, "items")) {
      const value = question.keep(object);
      if (value !== undefined) objects.set(keyOf(object), value);
    }
    const metadata = objectAt(page, "metadata");
    next = textAt(metadata, "continue") ?? "";
    if (next === "") return { objects, version: textAt(metadata, "resourceVersion") ?? "" };
  }
}

function pathOf(question: ListQuestion<unknown>, pageSize: number, next: string): string {
  const { path, fieldSelector } = question;
  const query = new URLSearchParams(pageSize === 0 ? {} : { limit: String(pageSize) });
  if (fieldSelector !== undefined) query.set("fieldSelector", fieldSelector);
  if (next !== "") query.set("continue", next);
  return query.size === 0 ? path : `${path}?${query}`;
}

type Page = { readonly page: RawObject; readonly bytes: number };

/** The API server's `continue` names a version and a key, so the size of a page may change within a list. */
async function fittingPage<T>(
  ask: AskApi,
  question: ListQuestion<T>,
  pageSize: number,
  next: string,
): Promise<Page & { readonly size: number }> {
  for (let size = pageSize; ; ) {
    try {
      return { ...(await onePage(ask, pathOf(question, size, next), size, question.signal)), size };
    } catch (error) {
      const smaller = error instanceof AnswerTooLarge ? afterTooLarge(size) : undefined;
      if (smaller === undefined) throw error;
      size = smaller;
    }
  }
}

async function onePage(ask: AskApi, path: string, size: number, signal: AbortSignal): Promise<Page> {
  // A whole list in one answer has no smaller form, so only the runner limits it.
  const limit = size === 0 ? {} : { limitBytes: PAGE_LIMIT_BYTES };
  const answer = await ask({ method: "GET", path, limitMs: PAGE_LIMIT_MS, ...limit, signal });
  if (answer.status !== 200) throw new ApiRefusal(answer.status, path, answer.retryAfterMs);
  const page: unknown = JSON.parse(answer.text);
  if (!isRawObject(page) || !Array.isArray(page["items"] ?? [])) throw new Error(`the answer to ${path} is no list`);
  return { page, bytes: Buffer.byteLength(answer.text) };
}

/** Largest page in bytes. An API server stores objects of about 1.5 MiB, and JSON may write a byte as six characters. */
export const PAGE_LIMIT_BYTES = 16 * 1024 * 1024;

/** @returns `undefined` when a page cannot be smaller */
export function afterTooLarge(size: number): number | undefined {
  return size > 1 ? Math.floor(size / 2) : undefined;
}

/** Large objects may be few: the pages after them grow back as soon as twice as many such objects would fit. */
export function afterPage(size: number, { bytes, full }: { readonly bytes: number; readonly full: number }): number {
  return bytes * 2 <= PAGE_LIMIT_BYTES ? Math.min(size * 2, full) : size;
}
