/** Tests the reflector over HTTP against a fake API server with injected failures. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ApiClient, createApiClient } from "../../src/api-server/api-client.ts";
import { type ReflectedResource, type ReflectorPorts, runReflector } from "../../src/api-server/reflector.ts";
import { createStore, type Store } from "../../src/api-server/store.ts";
import type { RawObject } from "../../src/kubernetes/raw-json.ts";
import { eventually } from "../time/eventually.ts";
import { pause, sleep } from "../time/pause.ts";
import { type FakeApiServer, startFakeApiServer } from "./fake-api-server.ts";

const PATH = "/api/v1/namespaces";

let server: FakeApiServer;
let api: ApiClient;
let controller: AbortController;
let reflecting: Promise<void> | undefined;
let failures: string[];
let responseCount: number;

beforeEach(async () => {
  server = await startFakeApiServer();
  api = createApiClient(server.connection);
  controller = new AbortController();
  failures = [];
  responseCount = 0;
});

afterEach(async () => {
  controller.abort();
  await reflecting;
  api.close();
  await server.close();
});

const noteOf = (object: RawObject): string => String(object["note"] ?? "");

type StartOptions = {
  readonly relistMs?: number;
  readonly pageSize?: number;
  readonly resource?: Partial<ReflectedResource<string>>;
  readonly ports?: Partial<ReflectorPorts>;
};

function startReflector(settings: StartOptions = {}): Store<string> {
  const store = createStore(noteOf);
  const { pageSize = 2, relistMs = 600_000 } = settings;
  const resource: ReflectedResource<string> = { path: PATH, pageSize, store, relistMs, ...settings.resource };
  const ports: ReflectorPorts = {
    request: api.request,
    stream: api.stream,
    nowMs: () => performance.now(),
    sleep: (ms, signal) => sleep(ms / 20, signal),
    random: () => 0.5,
    onListed: () => {
      responseCount += 1;
    },
    onResponse: () => {
      responseCount += 1;
    },
    onFailed: (reason) => failures.push(reason),
    ...settings.ports,
  };
  reflecting = runReflector(resource, ports, controller.signal);
  return store;
}

const putObject = (name: string, note: string): void => server.put(PATH, { metadata: { name }, note });
const countLists = (): number => server.requests.filter((request) => !request.includes("watch=")).length;
const countWatches = (): number => server.requests.filter((request) => request.includes("watch=")).length;
const expectOpenWatch = (): Promise<unknown> => eventually(() => expect(server.countOpenWatches(PATH)).toBe(1));
const expectEntries = (store: Store<string>, entries: Record<string, string>): Promise<unknown> =>
  eventually(() => expect(Object.fromEntries(store.entries)).toEqual(entries));

describe("the reflector", () => {
  test("lists page by page and then watches", async () => {
    for (const name of ["a", "b", "c", "d", "e"]) putObject(name, "1");
    const store = startReflector();
    await expectEntries(store, { a: "1", b: "1", c: "1", d: "1", e: "1" });
    expect(countLists()).toBe(3);
    await expectOpenWatch();
    putObject("b", "2");
    putObject("f", "1");
    server.remove(PATH, "a");
    await expectEntries(store, { b: "2", c: "1", d: "1", e: "1", f: "1" });
    expect(countLists()).toBe(3);
    expect(failures).toEqual([]);
  });

  test("continues an ended watch from the last resourceVersion, without a list", async () => {
    putObject("a", "1");
    const store = startReflector();
    await expectOpenWatch();
    putObject("a", "2");
    await expectEntries(store, { a: "2" });
    server.endWatches();
    putObject("a", "3");
    await expectEntries(store, { a: "3" });
    expect(countLists()).toBe(1);
  });

  test("continues an ended watch from the last bookmark", async () => {
    putObject("a", "1");
    startReflector();
    await expectOpenWatch();
    await eventually(() => expect(responseCount).toBe(2));
    const earlierCount = responseCount;
    server.bookmark(PATH);
    await eventually(() => expect(responseCount).toBe(earlierCount + 1));
    server.endWatches();
    await eventually(() => expect(server.requests.at(-1)).toContain("resourceVersion=102"));
  });

  test("parses watch events that are split at any byte, even within a character", async () => {
    const store = startReflector();
    await expectOpenWatch();
    const event = { type: "ADDED", object: { metadata: { name: "münchen-🚆", resourceVersion: "7" }, note: "größer" } };
    for (const byte of Buffer.from(`${JSON.stringify(event)}\n`)) {
      server.writeToWatches(PATH, Buffer.from([byte]));
      await pause(1, "each byte arrives separately");
    }
    await expectEntries(store, { "münchen-🚆": "größer" });
  });
});

describe("an expired resourceVersion", () => {
  test("in a watch causes a new list", async () => {
    putObject("a", "1");
    const store = startReflector();
    await expectOpenWatch();
    server.faults.hasSilentWatches = true;
    putObject("b", "1");
    server.compact();
    server.faults.hasSilentWatches = false;
    server.endWatches();
    await expectEntries(store, { a: "1", b: "1" });
    expect(countLists()).toBe(2);
    expect(failures).toEqual([]);
  });

  test("between two pages causes a list without pages", async () => {
    for (const name of ["a", "b", "c"]) putObject(name, "1");
    server.faults.onNextPage = () => {
      putObject("d", "1");
      server.compact();
    };
    const store = startReflector();
    await expectEntries(store, { a: "1", b: "1", c: "1", d: "1" });
    expect(server.requests.slice(0, 3).map((request) => request.includes("limit="))).toEqual([true, true, false]);
  });
});

describe("after a failure of the server or the network, the reflector", () => {
  test("retries and keeps its objects", async () => {
    putObject("a", "1");
    const store = startReflector();
    await expectOpenWatch();
    server.faults.errorStatus = 503;
    server.endWatches(true);
    await eventually(() => expect(failures.length).toBeGreaterThan(2));
    expect(Object.fromEntries(store.entries)).toEqual({ a: "1" });
    putObject("a", "2");
    server.faults.errorStatus = undefined;
    await expectEntries(store, { a: "2" });
  });

  test("retries the first list", async () => {
    server.faults.errorStatus = 403;
    const store = startReflector();
    await eventually(() => expect(failures).toContain(`the API server responded with 403 to ${PATH}`));
    server.faults.errorStatus = undefined;
    putObject("a", "1");
    await expectEntries(store, { a: "1" });
  });

  test("does not lose an event if a connection breaks within a line", async () => {
    putObject("a", "1");
    const store = startReflector();
    await expectOpenWatch();
    server.faults.hasSilentWatches = true;
    putObject("a", "2");
    server.faults.hasSilentWatches = false;
    server.writeToWatches(PATH, '{"type":"MODIFIED","object":{"metadata":{"name":"a","resourceVer');
    server.endWatches(true);
    await expectEntries(store, { a: "2" });
    expect(countLists()).toBe(1);
  });

  test.for([
    { title: "that is not JSON", line: "<html>\n" },
    { title: "that is not an event", line: "17\n" },
    { title: "with an event without an object", line: '{"type":"ADDED"}\n' },
    { title: "with an unknown type of event", line: '{"type":"MOVED","object":{}}\n' },
    { title: "with an ERROR event", line: '{"type":"ERROR","object":{"code":500}}\n' },
  ])("lists again after a watch line $title", async ({ line }) => {
    putObject("a", "1");
    const store = startReflector();
    await expectOpenWatch();
    server.faults.hasSilentWatches = true;
    putObject("b", "1");
    server.faults.hasSilentWatches = false;
    server.writeToWatches(PATH, line);
    await expectEntries(store, { a: "1", b: "1" });
    expect(countLists()).toBe(2);
    expect(failures).toHaveLength(1);
  });

  test("lists again at the relist interval if the watch is silent", async () => {
    putObject("a", "1");
    const store = startReflector({
      relistMs: 1_000,
      ports: { stream: (stream) => api.stream({ ...stream, limitMs: 1_000 }) },
    });
    await expectOpenWatch();
    server.faults.hasSilentWatches = true;
    putObject("a", "2");
    await expectEntries(store, { a: "2" });
    expect(countLists()).toBe(2);
  });

  test("does not treat objects on missing pages as deleted", async () => {
    for (const name of ["a", "b", "c"]) putObject(name, "1");
    const store = startReflector({ relistMs: 1_000, pageSize: 1 });
    await expectEntries(store, { a: "1", b: "1", c: "1" });
    server.faults.onNextPage = () => {
      server.faults.isUnresponsive = true;
    };
    const before = store.generation();
    await eventually(() => expect(server.faults.isUnresponsive).toBe(true));
    await eventually(() => expect(server.requests.at(-1)).toContain("continue=2"));
    expect(store.generation()).toBe(before);
    expect(store.entries.size).toBe(3);
  });

  test("waits with growing delays between watches that end immediately after their start", async () => {
    const pauses: number[] = [];
    startReflector({
      ports: {
        stream: async () => {
          await pause(1, "the watch ends immediately");
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
    putObject("a", "1");
    const store = startReflector({ resource: { watchMs: 1_000 } });
    await eventually(() => expect(countWatches()).toBeGreaterThan(2));
    putObject("a", "2");
    await expectEntries(store, { a: "2" });
    expect([countLists(), failures]).toEqual([1, []]);
  });

  test("causes a new list if no event arrives within the silence limit", async () => {
    putObject("a", "1");
    startReflector({ resource: { watchMs: 1_000, silenceLimitMs: () => 1_500 } });
    const startMs = performance.now();
    await eventually(() => expect(countLists()).toBe(2));
    expect(performance.now() - startMs).toBeGreaterThan(1_400);
    expect(failures).toEqual([]);
  });

  test("does not cause a list while bookmarks arrive", async () => {
    server.faults.sendsBookmarks = true;
    putObject("a", "1");
    // The silence limit exceeds the duration of a watch by five seconds, for a machine that stalls.
    startReflector({ resource: { watchMs: 1_000, silenceLimitMs: () => 6_000 } });
    // Seven complete watches take longer than the silence limit, so only the bookmarks can prevent another list.
    await eventually(() => expect(countWatches()).toBe(8));
    expect(countLists()).toBe(1);
  });

  test("is aborted by the client if the server does not end it", async () => {
    server.faults.endsWatchesOnTime = false;
    const startMs = performance.now();
    startReflector({ resource: { watchMs: 1_000 } });
    await eventually(() => expect(countWatches()).toBe(2));
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
    server.faults.errorStatus = 429;
    server.faults.retryAfter = retryAfter;
    const pauseMs: number[] = [];
    const shortSleep: ReflectorPorts["sleep"] = async (ms) => {
      pauseMs.push(ms);
      await pause(1, "replaces the sleep, which is only recorded");
    };
    startReflector({ ports: { sleep: shortSleep } });
    await eventually(() => expect(pauseMs.length).toBeGreaterThan(1));
    expect(pauseMs.slice(0, 2)).toEqual(pauses);
  });

  test("of a watch is obeyed, and only the reflector's own delays are limited by retryLimitMs", async () => {
    putObject("a", "1");
    const pauseMs: number[] = [];
    const shortSleep: ReflectorPorts["sleep"] = async (ms) => {
      pauseMs.push(ms);
      await pause(1, "replaces the sleep, which is only recorded");
    };
    startReflector({ ports: { sleep: shortSleep }, resource: { retryLimitMs: 500 } });
    await expectOpenWatch();
    server.faults.errorStatus = 429;
    server.faults.retryAfter = "3";
    server.endWatches();
    await eventually(() => expect(pauseMs).toContain(3_000));
    server.faults.retryAfter = undefined;
    pauseMs.length = 0;
    await eventually(() => expect(pauseMs.length).toBeGreaterThan(6));
    expect(pauseMs.slice(1, 6)).toEqual([500, 500, 500, 500, 500]);
  });
});

test("the abort of a reflector ends the open watch immediately", async () => {
  startReflector();
  await expectOpenWatch();
  controller.abort();
  await reflecting;
  await eventually(() => expect(server.countOpenWatches(PATH)).toBe(0));
});
