import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Connection, createConnectionLimit } from "../../../src/webhook/intake/connection-limit.ts";

const LIMIT = 8;
const ADDRESS_SHARE = 2;

function limitUnderTest() {
  const closed: string[] = [];
  let evictions = 0;
  const onEvict = (): void => {
    evictions += 1;
  };
  const table = createConnectionLimit(onEvict, LIMIT, ADDRESS_SHARE);
  const add = (name: string, address: string = name): Connection =>
    table.add({ destroy: () => closed.push(name) }, address);
  const addMany = (count: number, prefix: string, address?: string) =>
    Array.from({ length: count }, (_, index) => add(`${prefix}${index}`, address));
  return { table, closed, add, addMany, evictions: () => evictions };
}

function completeReview(connection: Connection): Connection {
  connection.responseStarted();
  connection.responseFinished(true);
  return connection;
}

test("at the connection limit, the oldest connection without a review is closed in favour of a new connection", () => {
  const { closed, addMany, evictions } = limitUnderTest();
  addMany(LIMIT + 2, "s");
  expect(closed).toEqual(["s0", "s1"]);
  expect(evictions()).toBe(2);
});

test("connections with completed reviews are closed last, the least recently used connection first", () => {
  const { closed, add, addMany } = limitUnderTest();
  const [first, other] = [completeReview(add("first")), completeReview(add("other"))];
  addMany(LIMIT, "s");
  expect(closed).toEqual(["s0", "s1"]);
  completeReview(first);
  closed.length = 0;
  for (let index = 0; index < LIMIT; index += 1) completeReview(add(`k${index}`));
  expect(closed.filter((name) => !name.startsWith("s"))).toEqual(["other", "first"]);
  expect(other.isKnown()).toBe(true);
});

test("a connection whose only request was not a review counts as a connection without a review", () => {
  const { closed, add, addMany } = limitUnderTest();
  const probed = add("probed");
  probed.responseStarted();
  probed.responseFinished(false);
  addMany(LIMIT, "s");
  expect(closed).toEqual(["probed"]);
});

test("a connection with a review in progress stays open; if all have one, the new connection is closed", () => {
  const { closed, add, addMany } = limitUnderTest();
  const busyConnections = addMany(LIMIT, "b");
  for (const connection of busyConnections) connection.responseStarted();
  add("new");
  expect(closed).toEqual(["new"]);
});

test("the client address with the most connections loses a connection first, even if other addresses have older connections", () => {
  const { closed, add, addMany } = limitUnderTest();
  addMany(2, "old");
  addMany(LIMIT - 2, "greedy", "10.0.0.9");
  add("new");
  expect(closed).toEqual(["greedy0"]);
});

test("a new connection of an API server is not closed in favour of connections without reviews of another address", () => {
  const { closed, add, addMany } = limitUnderTest();
  addMany(LIMIT, "s", "10.0.0.9");
  add("api-server", "10.0.0.1");
  addMany(10 * LIMIT, "more", "10.0.0.9");
  expect(closed).not.toContain("api-server");
});

test("a new connection of an API server is not closed in favour of connections with reviews of other addresses", () => {
  const { closed, add } = limitUnderTest();
  for (const address of ["10.0.0.7", "10.0.0.8", "10.0.0.9"])
    for (let index = 0; index < 3; index += 1) completeReview(add(`${address}/${index}`, address));
  add("api-server", "10.0.0.1");
  add("another", "10.0.0.1");
  for (let index = 0; index < LIMIT; index += 1) completeReview(add(`again${index}`, "10.0.0.9"));
  expect(closed).not.toContain("api-server");
  expect(closed).not.toContain("another");
});

test("a connection with an incomplete request is closed after the other connections of its client address", () => {
  const { closed, add, addMany } = limitUnderTest();
  const sending = completeReview(add("sending", "10.0.0.9"));
  sending.requestStarted();
  const known = ["k0", "k1", "k2"].map((name) => completeReview(add(name, "10.0.0.9")));
  expect(known).toHaveLength(3);
  addMany(LIMIT - 3, "new");
  expect(closed).toEqual(["k0"]);
  for (let index = 0; index < LIMIT; index += 1) add(`a${index}`, "10.0.0.9").requestStarted();
  expect(closed).toContain("sending");
});

type Live = { readonly connection: Connection; openReviews: number };

/** Opens, uses and closes connections, and tracks which are open and how many reviews each has in progress. */
function connectionsUnderTest() {
  const live: Live[] = [];
  const table = createConnectionLimit(() => undefined, LIMIT, ADDRESS_SHARE);
  const remove = (entry: Live): unknown => live.splice(live.indexOf(entry), 1);
  return {
    live,
    table,
    add: (address: string) => {
      const opened: { entry?: Live; isClosed: boolean } = { isClosed: false };
      const destroy = (): void => {
        opened.isClosed = true;
        if (opened.entry === undefined) return;
        expect(opened.entry.openReviews).toBe(0);
        remove(opened.entry);
      };
      const entry: Live = { connection: table.add({ destroy }, address), openReviews: 0 };
      opened.entry = entry;
      if (!opened.isClosed) live.push(entry);
    },
    start: (entry: Live) => {
      entry.connection.responseStarted();
      entry.openReviews += 1;
    },
    finish: (entry: Live, isReview: boolean) => {
      if (entry.openReviews === 0) return;
      entry.connection.responseFinished(isReview);
      entry.openReviews -= 1;
    },
    close: (entry: Live) => {
      entry.connection.closed();
      remove(entry);
    },
  };
}

test("in any order of events the connection limit is not exceeded, and no review in progress is aborted", () => {
  const step = fc.record({
    operation: fc.constantFrom("add", "start", "finish", "close"),
    index: fc.nat(30),
    address: fc.nat(3),
  });
  const property = fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
    const underTest = connectionsUnderTest();
    for (const { operation, index, address } of steps) {
      const chosen = underTest.live[index % Math.max(1, underTest.live.length)];
      if (operation === "add" || chosen === undefined) underTest.add(`10.0.0.${address}`);
      else if (operation === "start") underTest.start(chosen);
      else if (operation === "finish") underTest.finish(chosen, index % 2 === 0);
      else underTest.close(chosen);
      expect(underTest.table.connectionCount()).toBeLessThanOrEqual(LIMIT);
      expect(underTest.table.connectionCount()).toBe(underTest.live.length);
    }
  });
  void fc.assert(property);
});
