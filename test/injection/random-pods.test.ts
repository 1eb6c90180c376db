/** Tests 2 000 random Pods; `npm run test:pods` tests 20 000. */
import { expect, test } from "vitest";
import { applyPatch } from "./json-patch-reader.ts";
import { runRandomPods } from "./random-pods.ts";

test("random Pods, many with a forged manager, are not changed by a second injection and can be uninjected", {
  timeout: 300_000,
}, () => {
  const counts = runRandomPods(2_000, 7);
  expect(counts.violations, JSON.stringify(counts.example)).toEqual(new Map());
  expect(counts.patchedCount).toBeGreaterThan(1_000);
  expect(counts.forgedCount).toBeGreaterThan(300);
});

test("the tests' patch reader rejects patches that RFC 6902 forbids", () => {
  const document = { a: [1, 2], "b/c": { "~": 0 } };
  expect(applyPatch(document, [{ op: "add", path: "/a/1", value: 9 }])).toMatchObject({ a: [1, 9, 2] });
  expect(applyPatch(document, [{ op: "replace", path: "/b~1c/~0", value: 1 }])).toMatchObject({ "b/c": { "~": 1 } });
  expect(applyPatch(document, [{ op: "remove", path: "/a/0" }])).toMatchObject({ a: [2] });
  for (const invalid of [
    { op: "add", path: "/a/3", value: 1 },
    { op: "add", path: "/no/x", value: 1 },
    { op: "replace", path: "/no", value: 1 },
    { op: "remove", path: "/a/2" },
    { op: "remove", path: "/a/-" },
    { op: "add", path: "/a/01", value: 1 },
    { op: "add", path: "a", value: 1 },
    { op: "add", path: "/b~c", value: 1 },
    { op: "add", path: "/x" },
    { op: "put", path: "/x", value: 1 },
  ])
    expect(() => applyPatch(document, [invalid]), JSON.stringify(invalid)).toThrow();
});
