import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Connection, createConnectionLimit } from "../../../src/webhook/intake/connection-limit.ts";

const LIMIT = 8;
const ADDRESS_SHARE = 2;

function places() {
  const cut: string[] = [];
  let counted = 0;
  const onCut = (): void => {
    counted += 1;
  };
  const table = createConnectionLimit(onCut, LIMIT, ADDRESS_SHARE);
  const add = (name: string, address: string = name): Connection =>
    table.add({ destroy: () => cut.push(name) }, address);
  const addMany = (count: number, prefix: string, address?: string) =>
    Array.from({ length: count }, (_, index) => add(`${prefix}${index}`, address));
  return { table, cut, add, addMany, counted: () => counted };
}

function knownOne(connection: Connection): Connection {
  connection.responseStarted();
  connection.responseFinished(true);
  return connection;
}

test("at the connection limit, the oldest connection without a review is closed for a new one", () => {
  const { cut, addMany, counted } = places();
  addMany(LIMIT + 2, "s");
  expect(cut).toEqual(["s0", "s1"]);
  expect(counted()).toBe(2);
});

test("connections with completed reviews are closed last, the least recently used one first", () => {
  const { cut, add, addMany } = places();
  const [first, later] = [knownOne(add("first")), knownOne(add("later"))];
  addMany(LIMIT, "s");
  expect(cut).toEqual(["s0", "s1"]);
  knownOne(first);
  cut.length = 0;
  for (let index = 0; index < LIMIT; index += 1) knownOne(add(`k${index}`));
  expect(cut.filter((name) => !name.startsWith("s"))).toEqual(["later", "first"]);
  expect(later.isKnown()).toBe(true);
});

test("a response to a request that is not a review does not protect its connection", () => {
  const { cut, add, addMany } = places();
  const asked = add("asked");
  asked.responseStarted();
  asked.responseFinished(false);
  addMany(LIMIT, "s");
  expect(cut).toEqual(["asked"]);
});

test("a connection with a request in progress stays open, and if all have one, the new one is closed", () => {
  const { cut, add, addMany } = places();
  const busy = addMany(LIMIT, "b");
  for (const connection of busy) connection.responseStarted();
  add("new");
  expect(cut).toEqual(["new"]);
});

test("the client address with the most connections loses one first, even one with a review", () => {
  const { cut, add, addMany } = places();
  addMany(2, "old");
  addMany(LIMIT - 2, "greedy", "10.0.0.9");
  add("new");
  expect(cut).toEqual(["greedy0"]);
});

test("a new connection of an API server is not displaced by unknown ones of another address", () => {
  const { cut, add, addMany } = places();
  addMany(LIMIT, "s", "10.0.0.9");
  add("api-server", "10.0.0.1");
  addMany(10 * LIMIT, "more", "10.0.0.9");
  expect(cut).not.toContain("api-server");
});

test("connections with reviews of several addresses do not displace a new one of an API server", () => {
  const { cut, add } = places();
  for (const address of ["10.0.0.7", "10.0.0.8", "10.0.0.9"])
    for (let index = 0; index < 3; index += 1) knownOne(add(`${address}/${index}`, address));
  add("api-server", "10.0.0.1");
  add("another", "10.0.0.1");
  for (let index = 0; index < LIMIT; index += 1) knownOne(add(`again${index}`, "10.0.0.9"));
  expect(cut).not.toContain("api-server");
  expect(cut).not.toContain("another");
});

test("a connection with an incomplete request is closed after the others of the same client address", () => {
  const { cut, add, addMany } = places();
  const sending = knownOne(add("sending", "10.0.0.9"));
  sending.requestStarted();
  const known = ["k0", "k1", "k2"].map((name) => knownOne(add(name, "10.0.0.9")));
  expect(known).toHaveLength(3);
  addMany(LIMIT - 3, "new");
  expect(cut).toEqual(["k0"]);
  for (let index = 0; index < LIMIT; index += 1) add(`a${index}`, "10.0.0.9").requestStarted();
  expect(cut).toContain("sending");
});

type Live = { readonly connection: Connection; underWay: number };

/** Connections that open, send, are answered and close, and their entries in the table. */
function crowd() {
  const live: Live[] = [];
  const table = createConnectionLimit(() => undefined, LIMIT, ADDRESS_SHARE);
  const remove = (one: Live): unknown => live.splice(live.indexOf(one), 1);
  return {
    live,
    table,
    add: (address: string) => {
      const own: { one?: Live; isGone: boolean } = { isGone: false };
      const destroy = (): void => {
        own.isGone = true;
        if (own.one === undefined) return;
        expect(own.one.underWay).toBe(0);
        remove(own.one);
      };
      const one: Live = { connection: table.add({ destroy }, address), underWay: 0 };
      own.one = one;
      if (!own.isGone) live.push(one);
    },
    ask: (one: Live) => {
      one.connection.responseStarted();
      one.underWay += 1;
    },
    answer: (one: Live, isReview: boolean) => {
      if (one.underWay === 0) return;
      one.connection.responseFinished(isReview);
      one.underWay -= 1;
    },
    close: (one: Live) => {
      one.connection.closed();
      remove(one);
    },
  };
}

test("in any order of events the connection limit holds, and no request in progress is aborted", () => {
  const step = fc.record({
    does: fc.constantFrom("add", "ask", "answer", "close"),
    which: fc.nat(30),
    address: fc.nat(3),
  });
  const property = fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
    const all = crowd();
    for (const { does, which, address } of steps) {
      const chosen = all.live[which % Math.max(1, all.live.length)];
      if (does === "add" || chosen === undefined) all.add(`10.0.0.${address}`);
      else if (does === "ask") all.ask(chosen);
      else if (does === "answer") all.answer(chosen, which % 2 === 0);
      else all.close(chosen);
      expect(all.table.open()).toBeLessThanOrEqual(LIMIT);
      expect(all.table.open()).toBe(all.live.length);
    }
  });
  void fc.assert(property);
});
