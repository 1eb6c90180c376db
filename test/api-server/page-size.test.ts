/** Tests the page sizes of lists. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { afterPage, afterTooLarge, PAGE_LIMIT_BYTES } from "../../src/api-server/list-pages.ts";

test("the page size is halved after a too large page, down to one object", () => {
  const sizes: (number | undefined)[] = [250];
  while (sizes.at(-1) !== undefined) sizes.push(afterTooLarge(sizes.at(-1) ?? 0));
  expect(sizes).toEqual([250, 125, 62, 31, 15, 7, 3, 1, undefined]);
});

test("the page size 0, without pages, does not change", () => {
  expect(afterTooLarge(0)).toBeUndefined();
  expect(afterPage(0, { bytes: 1, full: 0 })).toBe(0);
});

test.for([
  { page: "that fits twice", size: 7, bytes: PAGE_LIMIT_BYTES / 2, next: 14 },
  { page: "that fits once", size: 7, bytes: PAGE_LIMIT_BYTES / 2 + 1, next: 7 },
  { page: "of full size", size: 250, bytes: 1_000, next: 250 },
  { page: "of more than half the full size", size: 200, bytes: 1_000, next: 250 },
])("after a page $page the next page has $next objects", ({ size, bytes, next }) => {
  expect(afterPage(size, { bytes, full: 250 })).toBe(next);
});

test("objects of any size up to the limit are listed completely, with few rejected pages", () => {
  const objects = fc.array(fc.integer({ min: 1, max: PAGE_LIMIT_BYTES }), { maxLength: 300 });
  fc.assert(
    fc.property(objects, fc.integer({ min: 1, max: 300 }), (sizes, full) => {
      let read = 0;
      let size = full;
      let tooLarge = 0;
      while (read < sizes.length) {
        const bytes = sizes.slice(read, read + size).reduce((sum, each) => sum + each, 0);
        if (bytes > PAGE_LIMIT_BYTES) {
          tooLarge += 1;
          size = afterTooLarge(size) ?? Number.NaN;
          continue;
        }
        read += size;
        size = afterPage(size, { bytes, full });
      }
      expect(size).not.toBeNaN();
      expect(tooLarge).toBeLessThanOrEqual(sizes.length + 9);
    }),
  );
});
