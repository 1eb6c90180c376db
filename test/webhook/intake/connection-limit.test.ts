import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Connection, createConnectionLimit } from "../../../src/webhook/intake/connection-limit.ts";

const LIMIT = 8;
const ADDRESS_SHARE = 2;

function createLimit() {
  const closedNames: string[] = [];
  let evictionCount = 0;
  const onEvict = (): void => {
    evictionCount += 1;
  };
  const table = createConnectionLimit(onEvict, LIMIT, ADDRESS_SHARE);
  const add = (name: string, address: string = name): Connection =>
    table.add({ destroy: () => closedNames.push(name) }, address);
  const addMany = (count: number, prefix: string, address?: string) =>
    Array.from({ length: count }, (_, index) => add(`${prefix}${index}`, address));
  return { table, closedNames, add, addMany, countEvictions: () => evictionCount };
}

function completeReview(connection: Connection): Connection {
  connection.responseStarted();
  connection.responseFinished(true);
  return connection;
}

test("at the connection limit, the oldest connection without a review is closed in favour of a new connection", () => {
  const { closedNames, addMany, countEvictions } = createLimit();
  addMany(LIMIT + 2, "s");
  expect(closedNames).toEqual(["s0", "s1"]);
  expect(countEvictions()).toBe(2);
});

test("connections with completed reviews are closed last, the least recently used connection first", () => {
  const { closedNames, add, addMany } = createLimit();
  const [first, other] = [completeReview(add("first")), completeReview(add("other"))];
  addMany(LIMIT, "s");
  expect(closedNames).toEqual(["s0", "s1"]);
  completeReview(first);
  closedNames.length = 0;
  for (let index = 0; index < LIMIT; index += 1) completeReview(add(`k${index}`));
  expect(closedNames.filter((name) => !name.startsWith("s"))).toEqual(["other", "first"]);
  expect(other.isKnown()).toBe(true);
});

test("a connection whose only request was not a review counts as a connection without a review", () => {
  const { closedNames, add, addMany } = createLimit();
  const probedConnection = add("probed");
  probedConnection.responseStarted();
  probedConnection.responseFinished(false);
  addMany(LIMIT, "s");
  expect(closedNames).toEqual(["probed"]);
});

test("a connection with a review in progress stays open, and the new connection is closed if all connections have one", () => {
  const { closedNames, add, addMany } = createLimit();
  const busyConnections = addMany(LIMIT, "b");
  for (const connection of busyConnections) connection.responseStarted();
  add("new");
  expect(closedNames).toEqual(["new"]);
});

test("the client address with the most connections loses a connection first, even if other addresses have older connections", () => {
  const { closedNames, add, addMany } = createLimit();
  addMany(2, "old");
  addMany(LIMIT - 2, "greedy", "10.0.0.9");
  add("new");
  expect(closedNames).toEqual(["greedy0"]);
});

test("a new connection of an API server is not closed in favour of connections without reviews of another address", () => {
  const { closedNames, add, addMany } = createLimit();
  addMany(LIMIT, "s", "10.0.0.9");
  add("api-server", "10.0.0.1");
  addMany(10 * LIMIT, "more", "10.0.0.9");
  expect(closedNames).not.toContain("api-server");
});

test("a new connection of an API server is not closed in favour of connections with reviews of other addresses", () => {
  const { closedNames, add } = createLimit();
  for (const address of ["10.0.0.7", "10.0.0.8", "10.0.0.9"])
    for (let index = 0; index < 3; index += 1) completeReview(add(`${address}/${index}`, address));
  add("api-server", "10.0.0.1");
  add("another", "10.0.0.1");
  for (let index = 0; index < LIMIT; index += 1) completeReview(add(`again${index}`, "10.0.0.9"));
  expect(closedNames).not.toContain("api-server");
  expect(closedNames).not.toContain("another");
});

test("a connection with an incomplete request is closed after the other connections of its client address", () => {
  const { closedNames, add, addMany } = createLimit();
  const sendingConnection = completeReview(add("sending", "10.0.0.9"));
  sendingConnection.requestStarted();
  const knownConnections = ["k0", "k1", "k2"].map((name) => completeReview(add(name, "10.0.0.9")));
  expect(knownConnections).toHaveLength(3);
  addMany(LIMIT - 3, "new");
  expect(closedNames).toEqual(["k0"]);
  for (let index = 0; index < LIMIT; index += 1) add(`a${index}`, "10.0.0.9").requestStarted();
  expect(closedNames).toContain("sending");
});

type LiveConnection = { readonly connection: Connection; openReviews: number };

/** Opens, uses and closes connections, and tracks which are open and how many reviews each has in progress. */
function createConnections() {
  const liveConnections: LiveConnection[] = [];
  const table = createConnectionLimit(() => undefined, LIMIT, ADDRESS_SHARE);
  const remove = (entry: LiveConnection): unknown => liveConnections.splice(liveConnections.indexOf(entry), 1);
  return {
    liveConnections,
    table,
    add: (address: string) => {
      const state: { entry?: LiveConnection; isClosed: boolean } = { isClosed: false };
      const destroy = (): void => {
        state.isClosed = true;
        if (state.entry === undefined) return;
        expect(state.entry.openReviews).toBe(0);
        remove(state.entry);
      };
      const entry: LiveConnection = { connection: table.add({ destroy }, address), openReviews: 0 };
      state.entry = entry;
      if (!state.isClosed) liveConnections.push(entry);
    },
    start: (entry: LiveConnection) => {
      entry.connection.responseStarted();
      entry.openReviews += 1;
    },
    finish: (entry: LiveConnection, isReview: boolean) => {
      if (entry.openReviews === 0) return;
      entry.connection.responseFinished(isReview);
      entry.openReviews -= 1;
    },
    close: (entry: LiveConnection) => {
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
    const connections = createConnections();
    for (const { operation, index, address } of steps) {
      const entry = connections.liveConnections[index % Math.max(1, connections.liveConnections.length)];
      if (operation === "add" || entry === undefined) connections.add(`10.0.0.${address}`);
      else if (operation === "start") connections.start(entry);
      else if (operation === "finish") connections.finish(entry, index % 2 === 0);
      else connections.close(entry);
      expect(connections.table.connectionCount()).toBeLessThanOrEqual(LIMIT);
      expect(connections.table.connectionCount()).toBe(connections.liveConnections.length);
    }
  });
  void fc.assert(property);
});
