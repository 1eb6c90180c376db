/** The loop over real sockets, against a server that behaves, and misbehaves, as API servers do. */
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
let heard: number;

beforeEach(async () => {
  server = await fakeApiServer();
  api = createApiClient(server.connection);
  stop = new AbortController();
  failures = [];
  heard = 0;
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
      heard += 1;
    },
    onResponse: () => {
      heard += 1;
    },
    onFailed: (why) => failures.push(why),
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

describe("a server that behaves", () => {
  test("is read page by page, and then followed", async () => {
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

  test("that ends a watch is watched again from the last version, without a list", async () => {
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

  test("whose bookmark moved on is watched from there", async () => {
    put("a", "1");
    start();
    await watching();
    await eventually(() => expect(heard).toBe(2));
    const before = heard;
    server.bookmark(PATH);
    await eventually(() => expect(heard).toBe(before + 1));
    server.endWatches();
    await eventually(() => expect(server.requests.at(-1)).toContain("resourceVersion=102"));
  });

  test("gets each event whole however its bytes are cut, letters too", async () => {
    const store = start();
    await watching();
    const event = { type: "ADDED", object: { metadata: { name: "münchen-🚆", resourceVersion: "7" }, note: "größer" } };
    for (const byte of Buffer.from(`${JSON.stringify(event)}\n`)) {
      server.writeToWatches(PATH, Buffer.from([byte]));
      await pause(1, "each byte comes by itself");
    }
    await shows(store, { "münchen-🚆": "größer" });
  });
});

describe("a version that the server forgot", () => {
  test("in the watch's stream leads to a new list", async () => {
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

  test("between two pages leads to one whole list", async () => {
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

describe("a server or network that fails", () => {
  test("is asked again until it answers, and what was known stays", async () => {
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

  test("from the first moment on is waited for", async () => {
    server.faults.refuse = 403;
    const store = start();
    await eventually(() => expect(failures).toContain(`the API server answered 403 to ${PATH}`));
    server.faults.refuse = undefined;
    put("a", "1");
    await shows(store, { a: "1" });
  });

  test("loses no event when a line breaks off in its middle", async () => {
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
    { says: "no JSON", line: "<html>\n" },
    { says: "no event", line: "17\n" },
    { says: "an event without an object", line: '{"type":"ADDED"}\n' },
    { says: "an unknown type", line: '{"type":"MOVED","object":{}}\n' },
    { says: "an error", line: '{"type":"ERROR","object":{"code":500}}\n' },
  ])("is listed again after a line that is $says", async ({ line }) => {
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

  test("and falls silent is listed again on the timer", async () => {
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

  test("never shows half a list: what is on the pages that did not come is not taken for deleted", async () => {
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

  test("and ends every watch at once is not asked without pause", async () => {
    const pauses: number[] = [];
    start({
      ports: {
        stream: async () => {
          await pause(1, "a watch that ends at once");
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

describe("a watch of a short life", () => {
  test("is followed by another from the last version, without a list and without a failure", async () => {
    put("a", "1");
    const store = start({ followed: { watchMs: 1_000 } });
    await eventually(() => expect(watches()).toBeGreaterThan(2));
    put("a", "2");
    await shows(store, { a: "2" });
    expect([lists(), failures]).toEqual([1, []]);
  });

  test("that says nothing leads to a list once the silence has lasted", async () => {
    put("a", "1");
    start({ followed: { watchMs: 1_000, silenceMs: () => 1_500 } });
    const startMs = performance.now();
    await eventually(() => expect(lists()).toBe(2));
    expect(performance.now() - startMs).toBeGreaterThan(1_400);
    expect(failures).toEqual([]);
  });

  test("that says a bookmark does not", async () => {
    server.faults.bookmarks = true;
    put("a", "1");
    // A machine that stands still for five seconds makes no silence of it.
    start({ followed: { watchMs: 1_000, silenceMs: () => 6_000 } });
    // Seven of them have ended: without a word in them the silence would have lasted.
    await eventually(() => expect(watches()).toBe(8));
    expect(lists()).toBe(1);
  });

  test("that the server does not end is ended here soon after", async () => {
    server.faults.endsOnTime = false;
    const startMs = performance.now();
    start({ followed: { watchMs: 1_000 } });
    await eventually(() => expect(watches()).toBe(2));
    expect(performance.now() - startMs).toBeGreaterThan(1_400);
  });
});

describe("a server that asks to be left alone", () => {
  test.for([
    { says: "in seconds", retryAfter: "7", pauses: [7_000, 7_000] },
    { says: "for days is left alone for a minute", retryAfter: "999999", pauses: [60_000, 60_000] },
    { says: "by a date is asked as any other", retryAfter: "Wed, 21 Oct 2026 07:28:00 GMT", pauses: [375, 750] },
    { says: "with nonsense is asked as any other", retryAfter: "-1", pauses: [375, 750] },
  ])("$says", async ({ retryAfter, pauses }) => {
    server.faults.refuse = 429;
    server.faults.retryAfter = retryAfter;
    const slept: number[] = [];
    const shortSleep: ReflectorPorts["sleep"] = async (ms) => {
      slept.push(ms);
      await pause(1, "in place of the sleep that is only noted");
    };
    start({ ports: { sleep: shortSleep } });
    await eventually(() => expect(slept.length).toBeGreaterThan(1));
    expect(slept.slice(0, 2)).toEqual(pauses);
  });

  test("on a watch is left alone too, and pauses of its own are no longer than its reader wants", async () => {
    put("a", "1");
    const slept: number[] = [];
    const shortSleep: ReflectorPorts["sleep"] = async (ms) => {
      slept.push(ms);
      await pause(1, "in place of the sleep that is only noted");
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

test("being told to stop ends an open watch and a long pause at once", async () => {
  start();
  await watching();
  stop.abort();
  await running;
  await eventually(() => expect(server.openWatches(PATH)).toBe(0));
});
