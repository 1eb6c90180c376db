/** Sends damaged requests to the manager's port. The manager must still respond to a valid request afterwards. */
import { connect } from "node:net";
import { ownAddress } from "../../leases/own-address.ts";
import { pause } from "../../time/pause.ts";
import { WITHOUT_PORT_GUARD } from "../without-port-guard.ts";
import { mutated, spliced } from "./mutations.ts";
import { type Budget, Finding } from "./sanitize-part.ts";
import {
  exchange,
  MANAGER_PORT,
  type Running,
  requireCleanExit,
  SANITIZED_MANAGER,
  start,
  TOKEN,
  untilPrinted,
} from "./sanitized-process.ts";
import type { Random } from "./seeded-random.ts";

const HEAD = "Host: 10.1.0.7:17890\r\nUser-Agent: kube-lifecycle/1.35\r\nAccept: */*\r\nAccept-Encoding: gzip\r\n";
const REQUESTS = [
  `GET /${TOKEN}/prestop/app HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`,
  `GET /${TOKEN}/prestop/app?x=1 HTTP/1.0\r\n\r\n`,
  `GET /${TOKEN}/status HTTP/1.1\r\n${HEAD}\r\n`,
  `POST /${TOKEN}/drain HTTP/1.1\r\nHost: manager\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
  `POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nTrailer: x\r\n\r\n`,
  `POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello`,
  `HEAD / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n`,
  `GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\nGET /${TOKEN}/status HTTP/1.1\r\n\r\n`,
  `OPTIONS * HTTP/1.1\r\nHost: x\r\nCookie: ${"a=b; ".repeat(80)}\r\nX-Long: ${"y".repeat(3_000)}\r\n\r\n`,
  // An incomplete UTF-8 character at the end of the path.
  "GET /aaaaaaa\xf0?x HTTP/1.1\r\nHost: x\r\n\r\n",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x12\x04\0\0\0\0\0",
].map((text) => Buffer.from(text, "latin1"));
const VALID = Buffer.from(`GET /${TOKEN}/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);

const BATCH = 60;
/** Longer than the time limit of an unauthenticated connection, even on a busy host. */
const RESPONSE_LIMIT_MS = 30_000;
const SANITIZER_REPORT_MS = 5_000;

export async function httpMutants(budget: Budget): Promise<string> {
  // Without the port guard, all bytes reach the parser.
  const managers = [await startedManager([]), await startedManager(WITHOUT_PORT_GUARD)];
  let sentCount = 0;
  while (budget.shouldContinue(sentCount))
    for (const manager of managers) {
      await sendBatch(manager, budget.random);
      sentCount += BATCH;
    }
  for (const { running } of managers) {
    running.child.kill("SIGTERM");
    requireCleanExit(await Promise.race([running.ended, endTimeout()]), [0, 3], Buffer.alloc(0));
  }
  return `${sentCount} damaged requests, ${sentCount / BATCH} valid ones answered`;
}

type Manager = { readonly running: Running; readonly address: string };

async function startedManager(wrapper: readonly string[]): Promise<Manager> {
  const address = ownAddress();
  const flags = [`--address-scope=${address}`, "--hooks=app:app,web:app", "--drain-delay=1s", "--drain-timeout=3s"];
  const [command = "", ...args] = [...wrapper, SANITIZED_MANAGER, "serve", ...flags];
  const running = start(command, args);
  await untilPrinted(running, /"listening"/, RESPONSE_LIMIT_MS);
  return { running, address };
}

async function sendBatch({ running, address }: Manager, random: Random): Promise<void> {
  const batch = Array.from({ length: BATCH }, () => requestMutant(random));
  // Chosen in advance, because the order of connections varies.
  const closings = batch.map(() => ({
    pieces: 1 + random.below(4),
    endMode: random.below(4),
    waitMs: random.below(60),
  }));
  await Promise.all(batch.map((bytes, n) => send(address, bytes, closings[n] ?? IMMEDIATE)));
  await requireResponse(running, address, Buffer.concat(batch));
}

function endTimeout(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Finding("the manager continued after SIGTERM", VALID)), RESPONSE_LIMIT_MS).unref();
  });
}

function requestMutant(random: Random): Buffer {
  const request = random.pick(REQUESTS);
  const base = random.chance(0.15) ? spliced(request, random.pick(REQUESTS), random) : request;
  if (random.chance(0.05)) return base;
  // The port guard rejects requests whose first bytes lack the token, so half of the requests are damaged only after the token.
  return random.chance(0.5) ? damagedAfterToken(base, random) : mutated(base, random);
}

const PREFIXES = [`GET /${TOKEN}/`, `POST /${TOKEN}/`].map((text) => Buffer.from(text));

function damagedAfterToken(bytes: Buffer, random: Random): Buffer {
  const prefix = PREFIXES.find((one) => bytes.subarray(0, one.length).equals(one));
  if (prefix !== undefined) return Buffer.concat([prefix, mutated(bytes.subarray(prefix.length), random)]);
  const path = bytes.indexOf(" /");
  return Buffer.concat([random.pick(PREFIXES), mutated(bytes.subarray(path < 0 ? 0 : path + 2), random)]);
}

type Closing = { readonly pieces: number; readonly endMode: number; readonly waitMs: number };
const IMMEDIATE: Closing = { pieces: 1, endMode: 0, waitMs: 0 };

/** Sends the bytes in pieces, and then closes the connection, ends the sending side, resets the connection, or waits. */
function send(address: string, bytes: Buffer, closing: Closing): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port: MANAGER_PORT });
    socket.on("error", () => {});
    socket.on("close", () => resolve());
    socket.on("data", () => {});
    socket.on("connect", () => {
      const size = Math.ceil(bytes.length / closing.pieces);
      for (let at = 0; at < bytes.length; at += size) socket.write(bytes.subarray(at, at + size));
      if (closing.endMode === 0) socket.destroySoon();
      if (closing.endMode === 1) socket.end();
      setTimeout(() => (closing.endMode === 2 ? socket.resetAndDestroy() : socket.destroy()), closing.waitMs);
    });
  });
}

async function requireResponse(manager: Running, address: string, batch: Buffer): Promise<void> {
  const sentMs = performance.now();
  const response = await exchange(address, VALID, RESPONSE_LIMIT_MS);
  const tookMs = Math.round(performance.now() - sentMs);
  if (/^HTTP\/1\.1 200 .*"version":1/s.test(response)) return;
  // The exit with a sanitizer's report explains more than the missing response.
  const end = await Promise.race([
    manager.ended,
    pause(SANITIZER_REPORT_MS, "a sanitizer needs time to write its report"),
  ]);
  if (end !== undefined) requireCleanExit(end, [], batch);
  throw new Finding(`a valid request was answered after ${tookMs} ms with: "${response.slice(0, 500)}"`, batch);
}
