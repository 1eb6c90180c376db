/** Lists all objects of one kind in pages; each page is reduced to the kept parts before the next is read. */
import { isRawObject, objectAt, objectsAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";
import { ApiRefusal, ResponseTooLarge, type SendRequest } from "./api-request.ts";
import { type Keep, keyOf, type NewEntries } from "./store.ts";

const PAGE_LIMIT_MS = 30_000;

const GONE = 410;

export type Listed<T> = {
  readonly objects: ReadonlyMap<string, T>;
  readonly version: string;
};

type ListRequest<T> = {
  readonly path: string;
  readonly fieldSelector?: string | undefined;
  /**
   * Parsing a page blocks admissions, so large objects need small pages; a page over the byte limit is requested again with
   * fewer objects.
   */
  readonly pageSize: number;
  readonly keep: Keep<T>;
  readonly newEntries?: NewEntries<T> | undefined;
  readonly signal: AbortSignal;
};

/**
 * @throws ApiRefusal, or Error when a response is not a list. An incomplete list is discarded: its missing objects would
 * seem deleted.
 */
export async function listAll<T>(request: SendRequest, list: ListRequest<T>): Promise<Listed<T>> {
  try {
    return await listPaged(request, list, list.pageSize);
  } catch (error) {
    // The continue token expired. One unpaged list always completes.
    if (!(error instanceof ApiRefusal) || error.status !== GONE) throw error;
    return listPaged(request, list, 0);
  }
}

async function listPaged<T>(request: SendRequest, list: ListRequest<T>, pageSize: number): Promise<Listed<T>> {
  const objects = list.newEntries?.() ?? new Map<string, T>();
  let next = "";
  let size = pageSize;
  for (;;) {
    const { page, bytes, size: readSize } = await fittingPage(request, list, size, next);
    size = afterPage(readSize, { bytes, full: pageSize });
    for (const object of objectsAt(page, "items")) {
      const value = list.keep(object);
      if (value !== undefined) objects.set(keyOf(object), value);
    }
    const metadata = objectAt(page, "metadata");
    next = textAt(metadata, "continue") ?? "";
    if (next === "") return { objects, version: textAt(metadata, "resourceVersion") ?? "" };
  }
}

function pathOf(list: ListRequest<unknown>, pageSize: number, next: string): string {
  const { path, fieldSelector } = list;
  const query = new URLSearchParams(pageSize === 0 ? {} : { limit: String(pageSize) });
  if (fieldSelector !== undefined) query.set("fieldSelector", fieldSelector);
  if (next !== "") query.set("continue", next);
  return query.size === 0 ? path : `${path}?${query}`;
}

type Page = { readonly page: RawObject; readonly bytes: number };

/** A continue token holds a version and a key, so the page size may change within a list. */
async function fittingPage<T>(
  request: SendRequest,
  list: ListRequest<T>,
  pageSize: number,
  next: string,
): Promise<Page & { readonly size: number }> {
  for (let size = pageSize; ; ) {
    try {
      return { ...(await onePage(request, pathOf(list, size, next), size, list.signal)), size };
    } catch (error) {
      const smaller = error instanceof ResponseTooLarge ? afterTooLarge(size) : undefined;
      if (smaller === undefined) throw error;
      size = smaller;
    }
  }
}

async function onePage(request: SendRequest, path: string, size: number, signal: AbortSignal): Promise<Page> {
  // An unpaged list cannot be split, so only the client's limit applies.
  const limit = size === 0 ? {} : { limitBytes: PAGE_LIMIT_BYTES };
  const answer = await request({ method: "GET", path, limitMs: PAGE_LIMIT_MS, ...limit, signal });
  if (answer.status !== 200) throw new ApiRefusal(answer.status, path, answer.retryAfterMs);
  const page: unknown = JSON.parse(answer.text);
  if (!isRawObject(page) || !Array.isArray(page["items"] ?? []))
    throw new Error(`the response to ${path} is not a list`);
  return { page, bytes: Buffer.byteLength(answer.text) };
}

/** Largest page in bytes. An API server stores objects of about 1.5 MiB, and JSON may write a byte as six characters. */
export const PAGE_LIMIT_BYTES = 16 * 1024 * 1024;

export function afterTooLarge(size: number): number | undefined {
  return size > 1 ? Math.floor(size / 2) : undefined;
}

/** Doubles the page size again, up to `full`, once twice the bytes fit. */
export function afterPage(size: number, { bytes, full }: { readonly bytes: number; readonly full: number }): number {
  return bytes * 2 <= PAGE_LIMIT_BYTES ? Math.min(size * 2, full) : size;
}
