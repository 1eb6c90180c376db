/** Tests the reflector over sockets, against a server with the behaviour and the failures of API servers. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ApiClient, createApiClient } from "../../src/api-server/api-client.ts";
import { type Reflected, type ReflectorPorts, runReflector } from "../../src/api-server/reflector.ts";
import { createStore, type Store } from "../../src/api-server/store.ts";
import type { RawObject } from "../../src/kubernetes/raw-json.ts";
import { eventually } from "../time/eventually.ts";
import { pause, sleep } from "../time/pause.ts";
import { type FakeApiServer, fakeApiServer } from "./fake-api-server.ts";

const PATH = "/api/v1/namespaces";

let server: FakeApiServer;
let api: ApiClient;
let stop: AbortController;
let running: Promise<void> | undefined;
let failures: string[];
let responses: number;

beforeEach(async () => {
  server = await fakeApiServer();
  api = createApiClient(server.connection);
  stop = new AbortController();
  failures = [];
  responses = 0;
});

afterEach(async () => {
  stop.abort();
  await running;
  api.close();
  await server.close();
});

const text = (object: RawObject): string => String(object["note"] ?? "");

type Settings = {
  readonly relistMs?: number;
  readonly pageSize?: number;
  readonly followed?: Partial<Reflected<string>>;
  readonly ports?: Partial<ReflectorPorts>;
};

function start(settings: Settings = {}): Store<string> {
  const store = createStore(text);
  const { pageSize = 2, relistMs = 600_000 } = settings;
  const followed: Reflected<string> = { path: PATH, pageSize, store, relistMs, ...settings.followed };
  const ports: ReflectorPorts = {
    request: api.request,
    stream: api.stream,
    nowMs: () => performance.now(),
    sleep: (ms, signal) => sleep(ms / 20, signal),
    random: () => 0.5,
    onListed: () => {
      responses += 1;
    },
    onResponse: () => {
      responses += 1;
    },
    onFailed: (reason) => failures.push(reason),
    ...settings.ports,
  };
  running = runReflector(followed, ports, stop.signal);
  return store;
}

const put = (name: string, note: string): void => server.put(PATH, { metadata: { name }, note });
const lists = (): number => server.requests.filter((request) => !request.includes("watch=")).length;
const watches = (): number => server.requests.filter((request) => request.includes("watch=")).length;
const watching = (): Promise<unknown> => eventually(() => expect(server.openWatches(PATH)).toBe(1));
const shows = (store: Store<string>, entries: Record<string, string>): Promise<unknown> =>
  eventually(() => expect(Object.fromEntries(store.entries)).toEqual(entries));

describe("the reflector", () => {
  test("lists page by page and then watches", async () => {
    for (const name of ["a", "b", "c", "d", "e"]) put(name, "1");
    const store = start();
    await shows(store, { a: "1", b: "1", c: "1", d: "1", e: "1" });
    expect(lists()).toBe(3);
    await watching();
    put("b", "2");
    put("f", "1");
    server.remove(PATH, "a");
    await shows(store, { b: "2", c: "1", d: "1", e: "1", f: "1" });
    expect(lists()).toBe(3);
    expect(failures).toEqual([]);
  });

  test("continues an ended watch from the last resourceVersion, without a list", async () => {
    put("a", "1");
    const store = start();
    await watching();
    put("a", "2");
    await shows(store, { a: "2" });
    server.endWatches();
    put("a", "3");
    await shows(store, { a: "3" });
    expect(lists()).toBe(1);
  });

  test("continues an ended watch from the last bookmark", async () => {
    put("a", "1");
    start();
    await watching();
    await eventually(() => expect(responses).toBe(2));
    const before = responses;
    server.bookmark(PATH);
    await eventually(() => expect(responses).toBe(before + 1));
    server.endWatches();
    await eventually(() => expect(server.requests.at(-1)).toContain("resourceVersion=102"));
  });

  test("parses watch events that are split anywhere, even within a character", async () => {
    const store = start();
    await watching();
    const event = { type: "ADDED", object: { metadata: { name: "münchen-🚆", resourceVersion: "7" }, note: "größer" } };
    for (const byte of Buffer.from(`${JSON.stringify(event)}\n`)) {
      server.writeToWatches(PATH, Buffer.from([byte]));
      await pause(1, "each byte arrives separately");
    }
    await shows(store, { "münchen-🚆": "größer" });
  });
});

describe("an expired resourceVersion", () => {
  test("in a watch causes a new list", async () => {
    put("a", "1");
    const store = start();
    await watching();
    server.faults.silentWatches = true;
    put("b", "1");
    server.compact();
    server.faults.silentWatches = false;
    server.endWatches();
    await shows(store, { a: "1", b: "1" });
    expect(lists()).toBe(2);
    expect(failures).toEqual([]);
  });

  test("between two pages causes a list without pages", async () => {
    for (const name of ["a", "b", "c"]) put(name, "1");
    server.faults.betweenPages = () => {
      put("d", "1");
      server.compact();
    };
    const store = start();
    await shows(store, { a: "1", b: "1", c: "1", d: "1" });
    expect(server.requests.slice(0, 3).map((request) => request.includes("limit="))).toEqual([true, true, false]);
  });
});

describe("after a failure of the server or the network, the reflector", () => {
  test("retries and keeps its objects", async () => {
    put("a", "1");
    const store = start();
    await watching();
    server.faults.refuse = 503;
    server.endWatches(true);
    await eventually(() => expect(failures.length).toBeGreaterThan(2));
    expect(Object.fromEntries(store.entries)).toEqual({ a: "1" });
    put("a", "2");
    server.faults.refuse = undefined;
    await shows(store, { a: "2" });
  });

  test("retries the first list", async () => {
    server.faults.refuse = 403;
    const store = start();
    await eventually(() => expect(failures).toContain(`the API server answered 403 to ${PATH}`));
    server.faults.refuse = undefined;
    put("a", "1");
    await shows(store, { a: "1" });
  });

  test("loses no event if a connection breaks within a line", async () => {
    put("a", "1");
    const store = start();
    await watching();
    server.faults.silentWatches = true;
    put("a", "2");
    server.faults.silentWatches = false;
    server.writeToWatches(PATH, '{"type":"MODIFIED","object":{"metadata":{"name":"a","resourceVer');
    server.endWatches(true);
    await shows(store, { a: "2" });
    expect(lists()).toBe(1);
  });

  test.for([
    { title: "that is not JSON", line: "<html>\n" },
    { title: "that is not an event", line: "17\n" },
    { title: "with an event without an object", line: '{"type":"ADDED"}\n' },
    { title: "with an unknown type of event", line: '{"type":"MOVED","object":{}}\n' },
    { title: "with an ERROR event", line: '{"type":"ERROR","object":{"code":500}}\n' },
  ])("lists again after a watch line $title", async ({ line }) => {
    put("a", "1");
    const store = start();
    await watching();
    server.faults.silentWatches = true;
    put("b", "1");
    server.faults.silentWatches = false;
    server.writeToWatches(PATH, line);
    await shows(store, { a: "1", b: "1" });
    expect(lists()).toBe(2);
    expect(failures).toHaveLength(1);
  });

  test("lists again at the relist interval if the watch is silent", async () => {
    put("a", "1");
    const store = start({
      relistMs: 1_000,
      ports: { stream: (stream) => api.stream({ ...stream, limitMs: 1_000 }) },
    });
    await watching();
    server.faults.silentWatches = true;
    put("a", "2");
    await shows(store, { a: "2" });
    expect(lists()).toBe(2);
  });

  test("does not treat objects on missing pages as deleted", async () => {
    for (const name of ["a", "b", "c"]) put(name, "1");
    const store = start({ relistMs: 1_000, pageSize: 1 });
    await shows(store, { a: "1", b: "1", c: "1" });
    server.faults.betweenPages = () => {
      server.faults.mute = true;
    };
    const before = store.generation();
    await eventually(() => expect(server.faults.mute).toBe(true));
    await eventually(() => expect(server.requests.at(-1)).toContain("continue=2"));
    expect(store.generation()).toBe(before);
    expect(store.entries.size).toBe(3);
  });

  test("waits with growing delays between watches that end at once", async () => {
    const pauses: number[] = [];
    start({
      ports: {
        stream: async () => {
          await pause(1, "the watch ends at once");
        },
        sleep: async (ms, signal) => {
          pauses.push(ms);
          await sleep(5, signal);
        },
      },
    });
    await eventually(() => expect(pauses.length).toBeGreaterThan(8));
    expect(pauses.slice(0, 8)).toEqual([375, 750, 1500, 3000, 6000, 12000, 22500, 22500]);
  });
});

describe("a watch with a short timeout", () => {
  test("is continued from the last resourceVersion, without a list or a failure", async () => {
    put("a", "1");
    const store = start({ followed: { watchMs: 1_000 } });
    await eventually(() => expect(watches()).toBeGreaterThan(2));
    put("a", "2");
    await shows(store, { a: "2" });
    expect([lists(), failures]).toEqual([1, []]);
  });

  test("causes a list after the silence limit without an event", async () => {
    put("a", "1");
    start({ followed: { watchMs: 1_000, silenceMs: () => 1_500 } });
    const startMs = performance.now();
    await eventually(() => expect(lists()).toBe(2));
    expect(performance.now() - startMs).toBeGreaterThan(1_400);
    expect(failures).toEqual([]);
  });

  test("causes no list if there are bookmarks", async () => {
    server.faults.bookmarks = true;
    put("a", "1");
    // Tolerates a machine that stalls for five seconds.
    start({ followed: { watchMs: 1_000, silenceMs: () => 6_000 } });
    // Seven watches take longer than the silence limit.
    await eventually(() => expect(watches()).toBe(8));
    expect(lists()).toBe(1);
  });

  test("is ended by the client if the server does not end the watch", async () => {
    server.faults.endsOnTime = false;
    const startMs = performance.now();
    start({ followed: { watchMs: 1_000 } });
    await eventually(() => expect(watches()).toBe(2));
    expect(performance.now() - startMs).toBeGreaterThan(1_400);
  });
});

describe("the header Retry-After", () => {
  test.for([
    { title: "in seconds is obeyed", retryAfter: "7", pauses: [7_000, 7_000] },
    { title: "of days is limited to a minute", retryAfter: "999999", pauses: [60_000, 60_000] },
    { title: "with a date is ignored", retryAfter: "Wed, 21 Oct 2026 07:28:00 GMT", pauses: [375, 750] },
    { title: "with an invalid value is ignored", retryAfter: "-1", pauses: [375, 750] },
  ])("$title", async ({ retryAfter, pauses }) => {
    server.faults.refuse = 429;
    server.faults.retryAfter = retryAfter;
    const slept: number[] = [];
    const shortSleep: ReflectorPorts["sleep"] = async (ms) => {
      slept.push(ms);
      await pause(1, "replaces the sleep, which is only recorded");
    };
    start({ ports: { sleep: shortSleep } });
    await eventually(() => expect(slept.length).toBeGreaterThan(1));
    expect(slept.slice(0, 2)).toEqual(pauses);
  });

  test("of a watch is obeyed, and only the reflector's own delays are limited by retryLimitMs", async () => {
    put("a", "1");
    const slept: number[] = [];
    const shortSleep: ReflectorPorts["sleep"] = async (ms) => {
      slept.push(ms);
      await pause(1, "replaces the sleep, which is only recorded");
    };
    start({ ports: { sleep: shortSleep }, followed: { retryLimitMs: 500 } });
    await watching();
    server.faults.refuse = 429;
    server.faults.retryAfter = "3";
    server.endWatches();
    await eventually(() => expect(slept).toContain(3_000));
    server.faults.retryAfter = undefined;
    slept.length = 0;
    await eventually(() => expect(slept.length).toBeGreaterThan(6));
    expect(slept.slice(1, 6)).toEqual([500, 500, 500, 500, 500]);
  });
});

test("the abort of a reflector ends the open watch at once", async () => {
  start();
  await watching();
  stop.abort();
  await running;
  await eventually(() => expect(server.openWatches(PATH)).toBe(0));
});
