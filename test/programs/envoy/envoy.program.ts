/** The driver before real Envoys: what each kind of client costs, and that nothing is lost. */
import { once } from "node:events";
import { get } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import { NATIVE_BUILD, NODE_BUILD } from "../../manager/builds.ts";
import { endManagers, pause } from "../../manager/manager-process.ts";
import { requiredProgram, type Skipping } from "../install/required-program.ts";
import { HTTP_PORT, TCP_PORT } from "./envoy-config.ts";
import { type Load, startHttp1Load, startHttp2Load } from "./envoy-load.ts";
import { DELAY_MS, type Ended, type EnvoyPod, type EnvoyPodParts, QUIET_MS, startEnvoyPod } from "./envoy-pod.ts";

afterAll(endManagers);

/** Over-wait, and the pauses between two looks of this test. */
const SLACK_MS = 500;
/** How long after the trigger new connections still come. */
const WITHDRAWN_MS = 1_000;

const build = NATIVE_BUILD.command === "" ? NODE_BUILD : NATIVE_BUILD;

describe.for(["envoy-1.40", "envoy-1.36"] as const)("a drain of %s", (name) => {
  type Case = (pod: EnvoyPod) => Promise<void>;

  async function withPod(context: Skipping, more: Partial<EnvoyPodParts>, play: Case): Promise<void> {
    const program = await requiredProgram(name, context);
    const pod = await startEnvoyPod({ program, build, ...more });
    try {
      await play(pod);
    } finally {
      await pod.stop();
    }
  }

  const told = (what: string, ended: Ended, more = "") =>
    process.stdout.write(`${name}, ${what}: released after ${Math.round(ended.releasedAfterMs)} ms${more}\n`);

  test("without traffic takes the delay", async (context) => {
    await withPod(context, {}, async (pod) => {
      const ended = await pod.end();
      told("no traffic", ended);
      expect(ended).toMatchObject({ status: 200, outcome: "drained" });
      expect(ended.releasedAfterMs).toBeGreaterThan(DELAY_MS - 5);
      expect(ended.releasedAfterMs).toBeLessThan(DELAY_MS + SLACK_MS);
    });
  });

  test("with an idle HTTP/1.1 connection takes the quiet period more", async (context) => {
    await withPod(context, {}, async (pod) => {
      const client = await dialed(pod, HTTP_PORT);
      client.write("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n");
      await once(client, "data");
      const ended = await pod.end();
      told("one idle HTTP/1.1 connection", ended);
      client.destroy();
      expectQuiet(ended);
    });
  });

  test("with an idle HTTP/2 connection takes the quiet period more", async (context) => {
    await withPod(context, {}, async (pod) => {
      const session = connectHttp2(`http://${pod.address}:${HTTP_PORT}`);
      session.on("error", () => undefined);
      const stream = session.request({ ":path": "/1" }).resume();
      await once(stream, "close");
      const ended = await pod.end();
      told("one idle HTTP/2 connection", ended);
      session.destroy();
      expectQuiet(ended);
    });
  });

  test("whose statistics are matched away is ended by the sockets", async (context) => {
    await withPod(context, { fewStatistics: true }, async (pod) => {
      const client = await dialed(pod, HTTP_PORT);
      client.write("GET /4000 HTTP/1.1\r\nHost: x\r\n\r\n");
      let answer = "";
      let answeredMs = 0;
      client.on("data", (data: Buffer) => {
        answer += data.toString("latin1");
        answeredMs = performance.now();
      });
      const ended = await pod.end();
      told("matched-away statistics, a request of 4 s", ended);
      client.destroy();
      expect(ended).toMatchObject({ status: 200, outcome: "drained" });
      // Told it was all the same.
      expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*connection: close/i);
      expect(ended.releasedAtMs - answeredMs).toBeGreaterThan(QUIET_MS - SLACK_MS);
      expect(ended.releasedAtMs - answeredMs).toBeLessThan(QUIET_MS + SLACK_MS);
    });
  });

  test("waits for the answer of a long request", async (context) => {
    await withPod(context, {}, async (pod) => {
      let answeredMs = 0;
      const answer = new Promise<number>((done, failed) => {
        get({ host: pod.address, port: HTTP_PORT, path: "/5000", agent: false }, (res) => {
          res.resume().on("end", () => {
            answeredMs = performance.now();
            done(res.statusCode ?? 0);
          });
        }).on("error", failed);
      });
      await pause(100);
      const ended = await pod.end();
      expect(await answer).toBe(200);
      const overMs = ended.releasedAtMs - answeredMs - QUIET_MS;
      told("a request of 5 s", ended, `, ${Math.round(overMs)} ms after quiet`);
      expect(ended).toMatchObject({ status: 200, outcome: "drained" });
      expect(overMs).toBeLessThan(SLACK_MS);
    });
  });

  test.for([
    { says: "HTTP/1.1", start: (pod: EnvoyPod) => startHttp1Load(placesOf(pod), 20), strategy: "immediate" as const },
    { says: "HTTP/2", start: (pod: EnvoyPod) => startHttp2Load(placesOf(pod), 4, 6), strategy: "immediate" as const },
    {
      says: "HTTP/1.1 under gradual",
      start: (pod: EnvoyPod) => startHttp1Load(placesOf(pod), 20),
      strategy: "gradual" as const,
    },
  ])("sends endless clients of $says away and loses no request", async ({ says, start, strategy }, context) => {
    await withPod(context, { strategy }, async (pod) => {
      const load: Load = start(pod);
      await pause(2_000);
      const withdrawal = pause(WITHDRAWN_MS).then(load.withdraw);
      const ended = await pod.end();
      await withdrawal;
      const overMs = ended.releasedAtMs - load.tally.lastMs - QUIET_MS;
      await pause(1_000);
      await load.stop();
      const { answered, failures } = load.tally;
      told(
        `${says} under load`,
        ended,
        `, ${Math.round(overMs)} ms after quiet, ${failures.length} of ${answered} failed`,
      );
      expect(failures).toEqual([]);
      expect(answered).toBeGreaterThan(500);
      expect(ended).toMatchObject({ status: 200, outcome: "drained" });
      expect(overMs).toBeLessThan(SLACK_MS);
    });
  });

  test.for([
    { says: "a WebSocket", port: HTTP_PORT, hello: WEBSOCKET },
    { says: "a TCP session", port: TCP_PORT, hello: "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n" },
  ])("waits for $says until it ends", async ({ says, port, hello }, context) => {
    await withPod(context, {}, async (pod) => {
      const client = await dialed(pod, port);
      client.write(hello);
      await once(client, "data");
      let closedMs = 0;
      const leaving = pause(5_000).then(() => {
        client.destroy();
        closedMs = performance.now();
      });
      const ended = await pod.end();
      await leaving;
      const overMs = ended.releasedAtMs - closedMs - QUIET_MS;
      told(`${says} of 5 s`, ended, `, ${Math.round(overMs)} ms after quiet`);
      expect(ended).toMatchObject({ status: 200, outcome: "drained" });
      expect(overMs).toBeGreaterThan(-SLACK_MS);
      expect(overMs).toBeLessThan(SLACK_MS);
    });
  });

  test("cuts a TCP session that stays at the deadline only, and the hook is answered well", async (context) => {
    await withPod(context, { timeoutMs: 3_000 }, async (pod) => {
      const client = await dialed(pod, TCP_PORT);
      const ended = await pod.end();
      told("a TCP session that stays", ended);
      client.destroy();
      expect(ended).toMatchObject({ status: 200, outcome: "timeout", why: expect.stringContaining("1 active") });
      expect(ended.releasedAfterMs).toBeGreaterThan(DELAY_MS + 2_995);
    });
  });
});

const WEBSOCKET =
  "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGVzdA==\r\nSec-WebSocket-Version: 13\r\n\r\n";

function expectQuiet(ended: Ended): void {
  expect(ended).toMatchObject({ status: 200, outcome: "drained" });
  expect(ended.releasedAfterMs).toBeGreaterThan(DELAY_MS + QUIET_MS - 5);
  expect(ended.releasedAfterMs).toBeLessThan(DELAY_MS + QUIET_MS + SLACK_MS);
}

const placesOf = (pod: EnvoyPod) => ({ address: pod.address, otherPort: pod.backendPort });

async function dialed(pod: EnvoyPod, port: number): Promise<Socket> {
  const socket = connect({ host: pod.address, port });
  await once(socket, "connect");
  socket.on("error", () => socket.destroy());
  return socket;
}
