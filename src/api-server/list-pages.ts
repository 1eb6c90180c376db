/** Lists all objects of one kind in pages; each page is reduced to its cached parts before the next page is read. */
import { isRawObject, objectAt, objectsAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";
import { ApiStatusError, ResponseTooLarge, type SendRequest } from "./api-request.ts";
import { keyOf, type NewEntries, type ReduceObject } from "./store.ts";

const PAGE_LIMIT_MS = 30_000;

const STATUS_GONE = 410;

export type ListResult<T> = {
  readonly objects: ReadonlyMap<string, T>;
  readonly resourceVersion: string;
};

type ListRequest<T> = {
  readonly path: string;
  readonly fieldSelector?: string | undefined;
  /**
   * Maximum number of objects per page. Parsing a page blocks admissions, so large objects need small pages; a page over the byte limit
   * is requested again with fewer objects.
   */
  readonly pageSize: number;
  readonly reduce: ReduceObject<T>;
  readonly newEntries?: NewEntries<T> | undefined;
  readonly signal: AbortSignal;
};

/**
 * @throws ApiStatusError, or Error when a response is not a list. An incomplete list is discarded: its missing objects would
 * be treated as deleted.
 */
export async function listAll<T>(request: SendRequest, list: ListRequest<T>): Promise<ListResult<T>> {
  try {
    return await listPaged(request, list, list.pageSize);
  } catch (error) {
    // The continue token expired. A list without pages does not need a token.
    if (!(error instanceof ApiStatusError) || error.status !== STATUS_GONE) throw error;
    return listPaged(request, list, 0);
  }
}

async function listPaged<T>(request: SendRequest, list: ListRequest<T>, pageSize: number): Promise<ListResult<T>> {
  const objects = list.newEntries?.() ?? new Map<string, T>();
  let continueToken = "";
  let currentPageSize = pageSize;
  for (;;) {
    const {
      page,
      byteCount,
      size: fittingSize,
    } = await fetchFittingPage(request, list, currentPageSize, continueToken);
    currentPageSize = nextPageSize(fittingSize, { byteCount, maximum: pageSize });
    for (const object of objectsAt(page, "items")) {
      const value = list.reduce(object);
      if (value !== undefined) objects.set(keyOf(object), value);
    }
    const metadata = objectAt(page, "metadata");
    continueToken = textAt(metadata, "continue") ?? "";
    if (continueToken === "") return { objects, resourceVersion: textAt(metadata, "resourceVersion") ?? "" };
  }
}

function pathOf(list: ListRequest<unknown>, pageSize: number, continueToken: string): string {
  const { path, fieldSelector } = list;
  const query = new URLSearchParams(pageSize === 0 ? {} : { limit: String(pageSize) });
  if (fieldSelector !== undefined) query.set("fieldSelector", fieldSelector);
  if (continueToken !== "") query.set("continue", continueToken);
  return query.size === 0 ? path : `${path}?${query}`;
}

type PageResponse = { readonly page: RawObject; readonly byteCount: number };

/** Requests a page with fewer objects until it fits. A continue token is valid for any page size. */
async function fetchFittingPage<T>(
  request: SendRequest,
  list: ListRequest<T>,
  pageSize: number,
  continueToken: string,
): Promise<PageResponse & { readonly size: number }> {
  for (let size = pageSize; ; ) {
    try {
      return { ...(await fetchPage(request, pathOf(list, size, continueToken), size, list.signal)), size };
    } catch (error) {
      const smallerSize = error instanceof ResponseTooLarge ? smallerPageSize(size) : undefined;
      if (smallerSize === undefined) throw error;
      size = smallerSize;
    }
  }
}

async function fetchPage(request: SendRequest, path: string, size: number, signal: AbortSignal): Promise<PageResponse> {
  // A list without pages cannot be split, so only the client's limit applies.
  const limitOption = size === 0 ? {} : { limitBytes: PAGE_LIMIT_BYTES };
  const response = await request({ method: "GET", path, limitMs: PAGE_LIMIT_MS, ...limitOption, signal });
  if (response.status !== 200) throw new ApiStatusError(response.status, path, response.retryAfterMs);
  const page: unknown = JSON.parse(response.text);
  if (!isRawObject(page) || !Array.isArray(page["items"] ?? []))
    throw new Error(`the response to ${path} is not a list`);
  return { page, byteCount: Buffer.byteLength(response.text) };
}

/** Largest page in bytes. An API server stores objects of up to about 1.5 MiB, and JSON may escape a byte as six characters. */
export const PAGE_LIMIT_BYTES = 16 * 1024 * 1024;

export function smallerPageSize(size: number): number | undefined {
  return size > 1 ? Math.floor(size / 2) : undefined;
}

/** Doubles the page size, up to the maximum, if a page of twice the bytes would fit into `PAGE_LIMIT_BYTES`. */
export function nextPageSize(
  size: number,
  { byteCount, maximum }: { readonly byteCount: number; readonly maximum: number },
): number {
  return byteCount * 2 <= PAGE_LIMIT_BYTES ? Math.min(size * 2, maximum) : size;
}
