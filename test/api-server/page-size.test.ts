/** Tests the page sizes of lists. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { nextPageSize, PAGE_LIMIT_BYTES, smallerPageSize } from "../../src/api-server/list-pages.ts";

test("the page size is halved after a page that is too large, down to one object", () => {
  const sizes: (number | undefined)[] = [250];
  while (sizes.at(-1) !== undefined) sizes.push(smallerPageSize(sizes.at(-1) ?? 0));
  expect(sizes).toEqual([250, 125, 62, 31, 15, 7, 3, 1, undefined]);
});

test("a list without pages, whose page size is 0, stays without pages", () => {
  expect(smallerPageSize(0)).toBeUndefined();
  expect(nextPageSize(0, { byteCount: 1, maximum: 0 })).toBe(0);
});

test.for([
  { page: "of half the byte limit", size: 7, bytes: PAGE_LIMIT_BYTES / 2, next: 14 },
  { page: "of more than half the byte limit", size: 7, bytes: PAGE_LIMIT_BYTES / 2 + 1, next: 7 },
  { page: "with the maximum number of objects", size: 250, bytes: 1_000, next: 250 },
  { page: "with more than half the maximum number of objects", size: 200, bytes: 1_000, next: 250 },
])("after a page $page the next page has $next objects", ({ size, bytes, next }) => {
  expect(nextPageSize(size, { byteCount: bytes, maximum: 250 })).toBe(next);
});

test("objects of any size up to the limit are listed completely, with few rejected pages", () => {
  const objects = fc.array(fc.integer({ min: 1, max: PAGE_LIMIT_BYTES }), { maxLength: 300 });
  fc.assert(
    fc.property(objects, fc.integer({ min: 1, max: 300 }), (sizes, maximum) => {
      let listedCount = 0;
      let size = maximum;
      let tooLargeCount = 0;
      while (listedCount < sizes.length) {
        const bytes = sizes.slice(listedCount, listedCount + size).reduce((sum, bytesOfOne) => sum + bytesOfOne, 0);
        if (bytes > PAGE_LIMIT_BYTES) {
          tooLargeCount += 1;
          size = smallerPageSize(size) ?? Number.NaN;
          continue;
        }
        listedCount += size;
        size = nextPageSize(size, { byteCount: bytes, maximum });
      }
      expect(size).not.toBeNaN();
      expect(tooLargeCount).toBeLessThanOrEqual(sizes.length + 9);
    }),
  );
});
