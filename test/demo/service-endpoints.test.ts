import { expect, test } from "vitest";
import { applyChange, usableEndpoints } from "../../src/demo/network/service-proxy.ts";

const ready = { address: "10.0.0.1", serving: true, terminating: false };
const terminating = { address: "10.0.0.2", serving: true, terminating: true };
const unready = { address: "10.0.0.3", serving: false, terminating: false };

test("only ready endpoints get connections if there are any", () => {
  expect(usableEndpoints([terminating, ready, unready])).toEqual([ready]);
});

test("a serving terminating endpoint gets connections if none is ready", () => {
  expect(usableEndpoints([terminating, unready])).toEqual([terminating]);
});

test("endpoints that do not serve do not get connections", () => {
  expect(usableEndpoints([unready, { ...terminating, serving: false }])).toEqual([]);
});

test("a change of an EndpointSlice replaces the endpoint of its address, and a removal deletes the endpoint", () => {
  const changed = applyChange([ready, unready], { ...ready, terminating: true });
  expect(changed).toEqual([unready, { ...ready, terminating: true }]);
  expect(applyChange(changed, { address: ready.address, gone: true })).toEqual([unready]);
});
