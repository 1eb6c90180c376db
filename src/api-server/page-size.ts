/** How many objects the next page of a list has, by how large the last one was. Pure. */

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
