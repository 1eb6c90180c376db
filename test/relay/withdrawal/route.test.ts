/** Tests `POST /v1/withdrawal` with well-behaved and hostile clients. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RELAY_BODY_LIMIT_BYTES } from "../../../src/contract/relay-wire.ts";
import type { BrokenDrain } from "../../../src/relay/lost/lost-drain.ts";
import { eventually } from "../../time/eventually.ts";
import { pause } from "../../time/pause.ts";
import { samplesOf } from "../../webhook/server-under-test.ts";
import {
  AUTHORIZED,
  IN_STATUS,
  OUT_STATUS,
  REQUEST,
  type RelayResponse,
  type StreamingRelay,
  startStreamingRelay,
  WALL_MS,
} from "./streaming-relay.ts";

let relay: StreamingRelay;

beforeEach(async () => {
  relay = await startStreamingRelay();
});

afterEach(async () => {
  await relay.close();
});

const waitForLines = (response: RelayResponse, lines: readonly object[]): Promise<unknown> =>
  eventually(() => expect(response.lines()).toEqual(lines));

const countStreams = async (): Promise<number | undefined> =>
  samplesOf(await relay.metrics(), "lastcall_relay_streams").get("");

const countRefusals = async (reason: string): Promise<number | undefined> =>
  samplesOf(await relay.metrics(), "lastcall_relay_refused_total").get(`{reason="${reason}"}`);

describe("a manager that requests the withdrawal of its Pod", () => {
  test("receives a status line immediately and after every change, until it closes the stream", async () => {
    const response = await relay.request();
    expect([response.status, response.headers["content-type"]]).toEqual([200, "application/x-ndjson"]);
    await waitForLines(response, [IN_STATUS]);
    expect(relay.watchers.map(({ request }) => request)).toEqual([REQUEST]);
    relay.watchers[0]?.send(OUT_STATUS);
    await waitForLines(response, [IN_STATUS, OUT_STATUS]);
    relay.watchers[0]?.send(IN_STATUS);
    await waitForLines(response, [IN_STATUS, OUT_STATUS, IN_STATUS]);
    expect(await countStreams()).toBe(1);
    response.disconnect();
    await eventually(() => expect(relay.watchers[0]?.hasLeft).toBe(true));
    expect(await countStreams()).toBe(0);
  });

  test("receives the shutdown `graceful` in each line if the last Pods of its workload did not reset a connection", async () => {
    await relay.close();
    relay = await startStreamingRelay({ isGraceful: ({ namespace }) => namespace === "shop" });
    const response = await relay.request();
    relay.watchers[0]?.send(OUT_STATUS);
    await waitForLines(response, [
      { ...IN_STATUS, shutdown: "graceful" },
      { ...OUT_STATUS, shutdown: "graceful" },
    ]);
    const other = await relay.request({ namespace: "bank" });
    await waitForLines(other, [IN_STATUS]);
  });

  test("receives the last status line again every 10 s", async () => {
    const response = await relay.request();
    await waitForLines(response, [IN_STATUS]);
    relay.watchers[0]?.send(OUT_STATUS);
    await waitForLines(response, [IN_STATUS, OUT_STATUS]);
    relay.advance(9_900);
    relay.advance(100);
    await waitForLines(response, [IN_STATUS, OUT_STATUS, OUT_STATUS]);
  });

  test("receives the last line again every 200 ms if it requests a heartbeat", async () => {
    const response = await relay.request({}, "/v1/withdrawal?heartbeat");
    await waitForLines(response, [IN_STATUS]);
    relay.advance(200);
    await waitForLines(response, [IN_STATUS, IN_STATUS]);
    relay.advance(200);
    await waitForLines(response, [IN_STATUS, IN_STATUS, IN_STATUS]);
  });

  test("counts in the limit of heartbeats until its stream ends, and does not get heartbeats beyond that limit", async () => {
    await relay.close();
    let remainingHeartbeats = 1;
    const limits = {
      startHeartbeat: () => {
        remainingHeartbeats -= 1;
        return remainingHeartbeats >= 0;
      },
      endHeartbeat: () => {
        remainingHeartbeats += 1;
      },
    };
    relay = await startStreamingRelay({ limits });
    const responseWithHeartbeats = await relay.request({}, "/v1/withdrawal?heartbeat");
    const responseWithoutHeartbeats = await relay.request({}, "/v1/withdrawal?heartbeat");
    await waitForLines(responseWithoutHeartbeats, [IN_STATUS]);
    relay.advance(200);
    await waitForLines(responseWithHeartbeats, [IN_STATUS, IN_STATUS]);
    expect([remainingHeartbeats, responseWithoutHeartbeats.lines()]).toEqual([-1, [IN_STATUS]]);
    responseWithHeartbeats.disconnect();
    responseWithoutHeartbeats.disconnect();
    await eventually(async () => expect(await countStreams()).toBe(0));
    expect(remainingHeartbeats).toBe(0);
  });

  test("is disconnected after a day, and when the relay shuts down", async () => {
    const first = await relay.request();
    await waitForLines(first, [IN_STATUS]);
    relay.advance(24 * 60 * 60_000);
    expect(await first.ended).toBe("ended");
    const second = await relay.request();
    await waitForLines(second, [IN_STATUS]);
    await relay.end();
    expect(await second.ended).toBe("ended");
    expect(relay.watchers.map(({ hasLeft }) => hasLeft)).toEqual([true, true]);
  });

  test("stays connected for longer than the request timeout", async () => {
    await relay.close();
    relay = await startStreamingRelay({ requestTimeoutMs: 2_000 });
    const response = await relay.request();
    await waitForLines(response, [IN_STATUS]);
    // A later client without a request is disconnected, which proves that the timeout has passed.
    const laterSocket = await relay.openConnection();
    const socketClosed = new Promise((resolve) => laterSocket.once("close", resolve));
    laterSocket.resume();
    await socketClosed;
    relay.watchers[0]?.send(OUT_STATUS);
    await waitForLines(response, [IN_STATUS, OUT_STATUS]);
  });
});

describe("a request for a withdrawal is rejected", () => {
  test.for([
    { title: "without a credential", headers: { "content-type": "application/json" } },
    { title: "with a forged credential", headers: { ...AUTHORIZED, authorization: "Lastcall forged" } },
    {
      title: "with an endless credential",
      headers: { ...AUTHORIZED, authorization: `Lastcall ${"a".repeat(12_000)}` },
    },
  ])("before its body is read if it is sent $title", async ({ headers }) => {
    const response = await relay.send({ body: "x".repeat(64 * 1024), headers, isEndless: true }).catch(() => undefined);
    // A client that is still sending may be disconnected before it receives the response.
    if (response !== undefined) expect(response.status).toBe(401);
    await eventually(async () => expect(await relay.connections()).toBe(0));
    expect(await countRefusals("credential")).toBe(1);
    expect(relay.watchers).toEqual([]);
  });

  test("without a credential, and its connection is closed before the body is read", async () => {
    const socket = await relay.openConnection();
    let received = "";
    socket.on("data", (bytes: Buffer) => {
      received += bytes.toString();
    });
    const socketClosed = new Promise((resolve) => socket.once("close", resolve));
    socket.write("POST /v1/withdrawal HTTP/1.1\r\nhost: x\r\ncontent-length: 9000\r\n\r\n{");
    await socketClosed;
    expect(received).toMatch(/^HTTP\/1.1 401 /);
    // The relay closes the connection immediately after this response, not at the request timeout.
    expect(received).toContain("connection: close\r\n");
  });

  test("without a credential, with a message as response", async () => {
    const response = await relay.send({ body: JSON.stringify(REQUEST), headers: { authorization: "Bearer x" } });
    expect(response.status).toBe(401);
    await response.ended;
    expect(response.text()).toBe("The authorization header does not contain a valid credential.\n");
  });

  test("if its namespace is not the credential's", async () => {
    const response = await relay.send({ body: JSON.stringify({ ...REQUEST, namespace: "other" }) });
    expect(response.status).toBe(403);
    expect(await countRefusals("foreign_namespace")).toBe(1);
    expect(relay.watchers).toEqual([]);
  });

  test.for([
    {
      title: "according to its Content-Length",
      headers: { ...AUTHORIZED, "content-length": String(RELAY_BODY_LIMIT_BYTES + 1) },
    },
    { title: "which is sent in chunks", headers: { ...AUTHORIZED, "transfer-encoding": "chunked" } },
  ])("if its body is larger than 16 KiB, $title", async ({ headers }) => {
    const response = await relay.send({ body: "x".repeat(RELAY_BODY_LIMIT_BYTES + 1), headers });
    expect([response.status, await countRefusals("too_large")]).toEqual([413, 1]);
  });

  test("if its body is endless, and its connection is closed", async () => {
    const response = await relay.send({ body: "x".repeat(1_024), isEndless: true }).catch(() => undefined);
    if (response !== undefined) expect(response.status).toBe(413);
    await eventually(async () => expect(await relay.connections()).toBe(0));
    expect(await countRefusals("too_large")).toBe(1);
  });

  test.for([
    { title: "not JSON", body: "{", status: 400, message: "The body is not JSON" },
    { title: "empty", body: "", status: 400, message: "The body is not JSON" },
    {
      title: "JSON with an invalid field",
      body: JSON.stringify({ ...REQUEST, pod: 7 }),
      status: 400,
      message: "pod is 7, expected",
    },
  ])("if its body is $title, with the reason in the message", async ({ body, status, message }) => {
    const response = await relay.send({ body });
    await response.ended;
    expect([response.status, response.text()]).toEqual([status, expect.stringContaining(message)]);
    expect(await countRefusals("malformed")).toBe(1);
  });

  test("if its content type is not application/json", async () => {
    const headers = { ...AUTHORIZED, "content-type": "text/plain" };
    const response = await relay.send({ body: JSON.stringify(REQUEST), headers });
    expect([response.status, await countRefusals("content_type")]).toEqual([415, 1]);
  });
});

describe("a client of the relay", () => {
  test.for([
    { title: "before its request", bytes: "" },
    { title: "after half a header", bytes: "POST /v1/withdrawal HTTP/1.1\r\nhost: x\r\nautho" },
    {
      title: "after half a body",
      bytes: `POST /v1/withdrawal HTTP/1.1\r\nhost: x\r\nauthorization: ${AUTHORIZED.authorization}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
    },
  ])("that stops $title is disconnected", async ({ bytes }) => {
    await relay.close();
    relay = await startStreamingRelay({ requestTimeoutMs: 300 });
    const socket = await relay.openConnection();
    const socketClosed = new Promise((resolve) => socket.once("close", resolve));
    socket.resume();
    if (bytes !== "") socket.write(bytes);
    await socketClosed;
    expect(await countStreams()).toBe(0);
  });
});

describe("a flood", () => {
  test("of requests of one namespace is rejected, and another namespace is served", async () => {
    await relay.close();
    relay = await startStreamingRelay({ streamsLimit: 40 });
    const requests = Array.from({ length: 60 }, (_, index) => relay.request({ uid: `uid-${index}` }));
    const responses = await Promise.all(requests);
    const acceptedResponses = responses.filter(({ status }) => status === 200);
    const refusedResponses = responses.filter(({ status }) => status === 429);
    expect([acceptedResponses.length, refusedResponses.length, refusedResponses[0]?.headers["retry-after"]]).toEqual([
      20,
      40,
      "1",
    ]);
    expect(await countRefusals("namespace_streams")).toBe(40);
    const other = await relay.request({ namespace: "other" });
    await waitForLines(other, [IN_STATUS]);
    for (const response of acceptedResponses) response.disconnect();
    await eventually(async () => expect(await countStreams()).toBe(1));
    await waitForLines(await relay.request(), [IN_STATUS]);
  });

  test("of requests with a replayed credential for one Pod is limited to 16 streams", async () => {
    const responses = await Promise.all(Array.from({ length: 40 }, () => relay.request()));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(16);
    expect(await countRefusals("pod_streams")).toBe(24);
  });

  test("of requests on one connection does not use memory after that connection is closed", async () => {
    const body = JSON.stringify(REQUEST);
    const requestText = `POST /v1/withdrawal HTTP/1.1\r\nhost: x\r\nauthorization: ${AUTHORIZED.authorization}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const socket = await relay.openConnection();
    let received = "";
    socket.on("data", (bytes: Buffer) => {
      received += bytes.toString();
    });
    socket.write(requestText.repeat(200));
    await eventually(() => expect(received).toContain('"state":"in"'));
    expect(await countStreams()).toBeLessThanOrEqual(16);
    socket.destroy();
    await eventually(async () => expect(await countStreams()).toBe(0));
    expect(relay.watchers.every(({ hasLeft }) => hasLeft)).toBe(true);
  });

  test("of status lines for a client that does not read is reduced to the newest line", async () => {
    const response = await relay.request();
    await waitForLines(response, [IN_STATUS]);
    response.message.pause();
    const count = 200_000;
    for (let line = 0; line < count; line += 1) relay.watchers[0]?.send({ ...IN_STATUS, reason: `line ${line}` });
    relay.watchers[0]?.send(OUT_STATUS);
    await pause(50, "what the connection holds of it is written");
    response.message.resume();
    await eventually(() => expect(response.lines().at(-1)).toEqual(OUT_STATUS));
    expect(response.lines().length).toBeLessThan(10);
  });
});

test("a client that disconnects before the end of its body does not cause a watch", async () => {
  const socket = await relay.openConnection();
  const length = JSON.stringify(REQUEST).length;
  socket.write(
    `POST /v1/withdrawal HTTP/1.1\r\nhost: x\r\nauthorization: ${AUTHORIZED.authorization}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n{`,
  );
  await pause(50, "the head of the request arrives");
  socket.destroy();
  await eventually(async () => expect(await relay.connections()).toBe(0));
  expect([relay.watchers, await countStreams()]).toEqual([[], 0]);
});

describe("the end of a status stream", () => {
  let closedDrains: (BrokenDrain | undefined)[];
  let openedUids: string[];
  let wallMs: number;

  beforeEach(async () => {
    await relay.close();
    closedDrains = [];
    openedUids = [];
    wallMs = WALL_MS;
    const lostDrains = {
      onStreamOpened: ({ uid }: { readonly uid: string }) => openedUids.push(uid),
      onStreamClosed: (_pod: object, drain: BrokenDrain | undefined) => closedDrains.push(drain),
      onReport: () => undefined,
    };
    relay = await startStreamingRelay({ lostDrains, wallMs: () => wallMs });
  });

  test("by the client during a drain is reported with the times and the last status", async () => {
    const response = await relay.request();
    relay.watchers[0]?.send({ ...OUT_STATUS, graceSeconds: 30 });
    await waitForLines(response, [IN_STATUS, { ...OUT_STATUS, graceSeconds: 30 }]);
    wallMs += 1_500;
    response.disconnect();
    await eventually(() => expect(closedDrains).toHaveLength(1));
    expect(closedDrains[0]).toMatchObject({
      openedAtMs: WALL_MS,
      brokeAtMs: WALL_MS + 1_500,
      state: "out",
      graceSeconds: 30,
    });
    expect([closedDrains[0]?.pod, closedDrains[0]?.claims.namespace, openedUids]).toEqual([REQUEST, "shop", ["uid-1"]]);
  });

  test("of a Pod that does not terminate is not reported as a broken drain", async () => {
    const response = await relay.request();
    await waitForLines(response, [IN_STATUS]);
    response.disconnect();
    await eventually(() => expect(closedDrains).toHaveLength(1));
    expect(closedDrains).toEqual([undefined]);
  });

  test.for([
    { title: "after a day", end: () => relay.advance(24 * 60 * 60_000) },
    { title: "at the relay's shutdown", end: () => relay.end() },
  ])("by the relay $title is not reported as a broken drain", async ({ end }) => {
    const response = await relay.request();
    relay.watchers[0]?.send(OUT_STATUS);
    await waitForLines(response, [IN_STATUS, OUT_STATUS]);
    await end();
    await eventually(() => expect(closedDrains).toHaveLength(1));
    expect(closedDrains).toEqual([undefined]);
  });
});
