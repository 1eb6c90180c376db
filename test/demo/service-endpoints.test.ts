import { expect, test } from "vitest";
import { applyChange, usableEndpoints } from "../../src/demo/network/service-proxy.ts";

const ready = { address: "10.0.0.1", serving: true, terminating: false };
const ending = { address: "10.0.0.2", serving: true, terminating: true };
const unready = { address: "10.0.0.3", serving: false, terminating: false };

test("only ready endpoints get connections while there is one", () => {
  expect(usableEndpoints([ending, ready, unready])).toEqual([ready]);
});

test("a Pod that ends but still serves gets connections when no other is ready", () => {
  expect(usableEndpoints([ending, unready])).toEqual([ending]);
});

test("nothing is used when nothing serves", () => {
  expect(usableEndpoints([unready, { ...ending, serving: false }])).toEqual([]);
});

test("a change replaces what was known of that address, and gone removes it", () => {
  const changed = applyChange([ready, unready], { ...ready, terminating: true });
  expect(changed).toEqual([unready, { ...ready, terminating: true }]);
  expect(applyChange(changed, { address: ready.address, gone: true })).toEqual([unready]);
});
