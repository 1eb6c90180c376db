/** `POST /v1/withdrawal` for those who behave and those who attack. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RELAY_BODY_LIMIT_BYTES } from "../../../src/contract/relay-wire.ts";
import type { BrokenDrain } from "../../../src/relay/lost/lost-drain.ts";
import { eventually } from "../../time/eventually.ts";
import { pause } from "../../time/pause.ts";
import { samplesOf } from "../../webhook/server-under-test.ts";
import {
  type Answer,
  AUTHORIZED,
  IN,
  OUT,
  QUESTION,
  type StreamingRelay,
  streamingRelay,
  WALL_MS,
} from "./streaming-relay.ts";

let relay: StreamingRelay;

beforeEach(async () => {
  relay = await streamingRelay();
});

afterEach(async () => {
  await relay.close();
});

const shows = (answer: Answer, lines: readonly object[]): Promise<unknown> =>
  eventually(() => expect(answer.lines()).toEqual(lines));

const streams = async (): Promise<number | undefined> =>
  samplesOf(await relay.metrics(), "lastcall_relay_streams").get("");

const refusedFor = async (reason: string): Promise<number | undefined> =>
  samplesOf(await relay.metrics(), "lastcall_relay_refused_total").get(`{reason="${reason}"}`);

describe("a manager that asks", () => {
  test("is answered at once, and with a line for every change, until it leaves", async () => {
    const answer = await relay.ask();
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, "application/x-ndjson"]);
    await shows(answer, [IN]);
    expect(relay.watchers.map(({ question }) => question)).toEqual([QUESTION]);
    relay.watchers[0]?.say(OUT);
    await shows(answer, [IN, OUT]);
    relay.watchers[0]?.say(IN);
    await shows(answer, [IN, OUT, IN]);
    expect(await streams()).toBe(1);
    answer.leave();
    await eventually(() => expect(relay.watchers[0]?.left).toBe(true));
    expect(await streams()).toBe(0);
  });

  test("hears the last line again every 10 s", async () => {
    const answer = await relay.ask();
    await shows(answer, [IN]);
    relay.watchers[0]?.say(OUT);
    await shows(answer, [IN, OUT]);
    relay.turn(9_900);
    relay.turn(100);
    await shows(answer, [IN, OUT, OUT]);
  });

  test("and waits for this word alone hears it again every 200 ms", async () => {
    const answer = await relay.ask({}, "/v1/withdrawal?pulse");
    await shows(answer, [IN]);
    relay.turn(200);
    await shows(answer, [IN, IN]);
    relay.turn(200);
    await shows(answer, [IN, IN, IN]);
  });

  test("gives its pulse back when it leaves, and is answered without one when none is left", async () => {
    await relay.close();
    let left = 1;
    const limits = {
      startHeartbeat: () => {
        left -= 1;
        return left >= 0;
      },
      endHeartbeat: () => {
        left += 1;
      },
    };
    relay = await streamingRelay({ limits });
    const pulsed = await relay.ask({}, "/v1/withdrawal?pulse");
    const plain = await relay.ask({}, "/v1/withdrawal?pulse");
    await shows(plain, [IN]);
    relay.turn(200);
    await shows(pulsed, [IN, IN]);
    expect([left, plain.lines()]).toEqual([-1, [IN]]);
    pulsed.leave();
    plain.leave();
    await eventually(async () => expect(await streams()).toBe(0));
    expect(left).toBe(0);
  });

  test("is told to ask again after a day, and when the relay ends", async () => {
    const first = await relay.ask();
    await shows(first, [IN]);
    relay.turn(24 * 60 * 60_000);
    expect(await first.ended).toBe("ended");
    const second = await relay.ask();
    await shows(second, [IN]);
    await relay.end();
    expect(await second.ended).toBe("ended");
    expect(relay.watchers.map(({ left }) => left)).toEqual([true, true]);
  });

  test("and sits on an open stream longer than a request may take is not cut", async () => {
    await relay.close();
    relay = await streamingRelay({ requestTimeoutMs: 2_000 });
    const answer = await relay.ask();
    await shows(answer, [IN]);
    // A client that came later and asks nothing is cut: so long was more than a request may take.
    const later = await relay.dial();
    const cut = new Promise((resolve) => later.once("close", resolve));
    later.resume();
    await cut;
    relay.watchers[0]?.say(OUT);
    await shows(answer, [IN, OUT]);
  });
});

describe("a request is refused", () => {
  test.for([
    { says: "without a credential", headers: { "content-type": "application/json" } },
    { says: "with a forged one", headers: { ...AUTHORIZED, authorization: "Lastcall forged" } },
    { says: "with an endless one", headers: { ...AUTHORIZED, authorization: `Lastcall ${"a".repeat(12_000)}` } },
  ])("$says, before its body is read", async ({ headers }) => {
    const answer = await relay.send({ body: "x".repeat(64 * 1024), headers, endless: true }).catch(() => undefined);
    // Who is still sending may see the end of the connection before the answer.
    if (answer !== undefined) expect(answer.status).toBe(401);
    await eventually(async () => expect(await relay.connections()).toBe(0));
    expect(await refusedFor("credential")).toBe(1);
    expect(relay.watchers).toEqual([]);
  });

  test("without a credential, and its connection ends whatever else was to come on it", async () => {
    const socket = await relay.dial();
    let heard = "";
    socket.on("data", (bytes: Buffer) => {
      heard += bytes.toString();
    });
    const gone = new Promise((resolve) => socket.once("close", resolve));
    socket.write("POST /v1/withdrawal HTTP/1.1\r\nhost: x\r\ncontent-length: 9000\r\n\r\n{");
    await gone;
    expect(heard).toMatch(/^HTTP\/1.1 401 /);
    // Not only when the time of a request is over.
    expect(heard).toContain("connection: close\r\n");
  });

  test("without a credential with a sentence, to who has sent all", async () => {
    const answer = await relay.send({ body: JSON.stringify(QUESTION), headers: { authorization: "Bearer x" } });
    expect(answer.status).toBe(401);
    await answer.ended;
    expect(answer.text()).toBe("The authorization header does not contain a valid credential.\n");
  });

  test("about another namespace than the credential's", async () => {
    const answer = await relay.send({ body: JSON.stringify({ ...QUESTION, namespace: "other" }) });
    expect(answer.status).toBe(403);
    expect(await refusedFor("foreign_namespace")).toBe(1);
    expect(relay.watchers).toEqual([]);
  });

  test.for([
    { says: "announced", headers: { ...AUTHORIZED, "content-length": String(RELAY_BODY_LIMIT_BYTES + 1) } },
    { says: "that comes unannounced", headers: { ...AUTHORIZED, "transfer-encoding": "chunked" } },
  ])("with a body larger than 16 KiB $says", async ({ headers }) => {
    const answer = await relay.send({ body: "x".repeat(RELAY_BODY_LIMIT_BYTES + 1), headers });
    expect([answer.status, await refusedFor("too_large")]).toEqual([413, 1]);
  });

  test("with a body without end, and its connection ends", async () => {
    const answer = await relay.send({ body: "x".repeat(1_024), endless: true }).catch(() => undefined);
    if (answer !== undefined) expect(answer.status).toBe(413);
    await eventually(async () => expect(await relay.connections()).toBe(0));
    expect(await refusedFor("too_large")).toBe(1);
  });

  test.for([
    { says: "nonsense", body: "{", status: 400, tells: "The body is not JSON" },
    { says: "nothing", body: "", status: 400, tells: "The body is not JSON" },
    {
      says: "a wrong field",
      body: JSON.stringify({ ...QUESTION, pod: 7 }),
      status: 400,
      tells: "pod is 7; it must be",
    },
  ])("that says $says, with what would be right", async ({ body, status, tells }) => {
    const answer = await relay.send({ body });
    await answer.ended;
    expect([answer.status, answer.text()]).toEqual([status, expect.stringContaining(tells)]);
    expect(await refusedFor("malformed")).toBe(1);
  });

  test("of another content type", async () => {
    const headers = { ...AUTHORIZED, "content-type": "text/plain" };
    const answer = await relay.send({ body: JSON.stringify(QUESTION), headers });
    expect([answer.status, await refusedFor("content_type")]).toEqual([415, 1]);
  });
});

describe("who sends slowly", () => {
  test.for([
    { says: "no request", bytes: "" },
    { says: "half a header", bytes: "POST /v1/withdrawal HTTP/1.1\r\nhost: x\r\nautho" },
    {
      says: "half a body",
      bytes: `POST /v1/withdrawal HTTP/1.1\r\nhost: x\r\nauthorization: ${AUTHORIZED.authorization}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
    },
  ])("$says loses the connection", async ({ bytes }) => {
    await relay.close();
    relay = await streamingRelay({ requestTimeoutMs: 300 });
    const socket = await relay.dial();
    const gone = new Promise((resolve) => socket.once("close", resolve));
    socket.resume();
    if (bytes !== "") socket.write(bytes);
    await gone;
    expect(await streams()).toBe(0);
  });
});

describe("a flood", () => {
  test("of one namespace is refused in time, and another one is served", async () => {
    await relay.close();
    relay = await streamingRelay({ streamsLimit: 40 });
    const asked = Array.from({ length: 60 }, (_, at) => relay.ask({ uid: `uid-${at}` }));
    const answers = await Promise.all(asked);
    const taken = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    expect([taken.length, refused.length, refused[0]?.headers["retry-after"]]).toEqual([20, 40, "1"]);
    expect(await refusedFor("namespace_streams")).toBe(40);
    const other = await relay.ask({ namespace: "other" });
    await shows(other, [IN]);
    for (const answer of taken) answer.leave();
    await eventually(async () => expect(await streams()).toBe(1));
    await shows(await relay.ask(), [IN]);
  });

  test("with a replayed credential and the same Pod stops at a few streams", async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => relay.ask()));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(16);
    expect(await refusedFor("pod_streams")).toBe(24);
  });

  test("of questions on one connection leaves nothing behind when that ends", async () => {
    const body = JSON.stringify(QUESTION);
    const one = `POST /v1/withdrawal HTTP/1.1\r\nhost: x\r\nauthorization: ${AUTHORIZED.authorization}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const socket = await relay.dial();
    let heard = "";
    socket.on("data", (bytes: Buffer) => {
      heard += bytes.toString();
    });
    socket.write(one.repeat(200));
    await eventually(() => expect(heard).toContain('"state":"in"'));
    expect(await streams()).toBeLessThanOrEqual(16);
    socket.destroy();
    await eventually(async () => expect(await streams()).toBe(0));
    expect(relay.watchers.every(({ left }) => left)).toBe(true);
  });

  test("of lines at a reader who does not read is not kept: the reader finds the last one", async () => {
    const answer = await relay.ask();
    await shows(answer, [IN]);
    answer.message.pause();
    const said = 200_000;
    for (let line = 0; line < said; line += 1) relay.watchers[0]?.say({ ...IN, reason: `line ${line}` });
    relay.watchers[0]?.say(OUT);
    await pause(50, "what the connection holds of it is written");
    answer.message.resume();
    await eventually(() => expect(answer.lines().at(-1)).toEqual(OUT));
    expect(answer.lines().length).toBeLessThan(10);
  });
});

test("who is gone before the body was whole is not watched for", async () => {
  const socket = await relay.dial();
  const length = JSON.stringify(QUESTION).length;
  socket.write(
    `POST /v1/withdrawal HTTP/1.1\r\nhost: x\r\nauthorization: ${AUTHORIZED.authorization}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n{`,
  );
  await pause(50, "the head of the request arrives");
  socket.destroy();
  await eventually(async () => expect(await relay.connections()).toBe(0));
  expect([relay.watchers, await streams()]).toEqual([[], 0]);
});

describe("the end of a stream", () => {
  let closed: (BrokenDrain | undefined)[];
  let opened: string[];
  let wallMs: number;

  beforeEach(async () => {
    await relay.close();
    closed = [];
    opened = [];
    wallMs = WALL_MS;
    const lost = {
      opened: ({ uid }: { readonly uid: string }) => opened.push(uid),
      closed: (_pod: object, drain: BrokenDrain | undefined) => closed.push(drain),
      reported: () => undefined,
    };
    relay = await streamingRelay({ lost, wallMs: () => wallMs });
  });

  test("by a client whose connection is destroyed in a drain is passed on with its times and the last line", async () => {
    const answer = await relay.ask();
    relay.watchers[0]?.say({ ...OUT, graceSeconds: 30 });
    await shows(answer, [IN, { ...OUT, graceSeconds: 30 }]);
    wallMs += 1_500;
    answer.leave();
    await eventually(() => expect(closed).toHaveLength(1));
    expect(closed[0]).toMatchObject({
      openedAtMs: WALL_MS,
      brokeAtMs: WALL_MS + 1_500,
      state: "out",
      graceSeconds: 30,
    });
    expect([closed[0]?.pod, closed[0]?.claims.namespace, opened]).toEqual([QUESTION, "shop", ["uid-1"]]);
  });

  test("of a Pod that does not terminate is no drain that broke", async () => {
    const answer = await relay.ask();
    await shows(answer, [IN]);
    answer.leave();
    await eventually(() => expect(closed).toHaveLength(1));
    expect(closed).toEqual([undefined]);
  });

  test.for([
    { says: "after a day", end: () => relay.turn(24 * 60 * 60_000) },
    { says: "as it stops", end: () => relay.end() },
  ])("by the relay $says is no drain that broke", async ({ end }) => {
    const answer = await relay.ask();
    relay.watchers[0]?.say(OUT);
    await shows(answer, [IN, OUT]);
    await end();
    await eventually(() => expect(closed).toHaveLength(1));
    expect(closed).toEqual([undefined]);
  });
});
