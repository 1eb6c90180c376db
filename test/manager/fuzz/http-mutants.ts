/** Sends damaged requests to the manager's port. The manager must still respond to a valid request afterwards. */
import { connect } from "node:net";
import { ownAddress } from "../../leases/own-address.ts";
import { pause } from "../../time/pause.ts";
import { WITHOUT_PORT_GUARD } from "../without-port-guard.ts";
import { mutate, splice } from "./mutations.ts";
import { type Budget, Finding } from "./sanitize-part.ts";
import {
  exchange,
  MANAGER_PORT,
  type RunningProgram,
  requireCleanExit,
  SANITIZED_MANAGER,
  start,
  TOKEN,
  untilPrinted,
} from "./sanitized-process.ts";
import type { Random } from "./seeded-random.ts";

const KUBELET_FIELDS =
  "Host: 10.1.0.7:17890\r\nUser-Agent: kube-lifecycle/1.35\r\nAccept: */*\r\nAccept-Encoding: gzip\r\n";
const REQUESTS = [
  `GET /${TOKEN}/prestop/app HTTP/1.1\r\n${KUBELET_FIELDS}Connection: close\r\n\r\n`,
  `GET /${TOKEN}/prestop/app?x=1 HTTP/1.0\r\n\r\n`,
  `GET /${TOKEN}/status HTTP/1.1\r\n${KUBELET_FIELDS}\r\n`,
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
const VALID_REQUEST = Buffer.from(`GET /${TOKEN}/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);

const BATCH_SIZE = 60;
/** Longer than the time limit of an unauthenticated connection, even on a busy host. */
const RESPONSE_LIMIT_MS = 30_000;
const SANITIZER_REPORT_MS = 5_000;

export async function testHttpMutants(budget: Budget): Promise<string> {
  // The second manager runs without the port guard, so all bytes reach its parser.
  const managers = [await startManager([]), await startManager(WITHOUT_PORT_GUARD)];
  let sentCount = 0;
  while (budget.shouldContinue(sentCount))
    for (const manager of managers) {
      await sendBatch(manager, budget.random);
      sentCount += BATCH_SIZE;
    }
  for (const { running } of managers) {
    running.child.kill("SIGTERM");
    requireCleanExit(await Promise.race([running.ended, rejectAfterTimeout()]), [0, 3], Buffer.alloc(0));
  }
  return `${sentCount} damaged requests, ${sentCount / BATCH_SIZE} valid ones answered`;
}

type Manager = { readonly running: RunningProgram; readonly address: string };

async function startManager(wrapper: readonly string[]): Promise<Manager> {
  const address = ownAddress();
  const flags = [`--address-scope=${address}`, "--hooks=app:app,web:app", "--drain-delay=1s", "--drain-timeout=3s"];
  const [command = "", ...args] = [...wrapper, SANITIZED_MANAGER, "serve", ...flags];
  const running = start(command, args);
  await untilPrinted(running, /"listening"/, RESPONSE_LIMIT_MS);
  return { running, address };
}

async function sendBatch({ running, address }: Manager, random: Random): Promise<void> {
  const batch = Array.from({ length: BATCH_SIZE }, () => createRequestMutant(random));
  // The random choices precede the connections, whose order varies, so that a seed reproduces the plan of each request.
  const plans = batch.map(() => ({
    pieces: 1 + random.below(4),
    endMode: random.below(4),
    waitMs: random.below(60),
  }));
  await Promise.all(batch.map((bytes, n) => send(address, bytes, plans[n] ?? IMMEDIATE_DELIVERY)));
  await requireResponse(running, address, Buffer.concat(batch));
}

function rejectAfterTimeout(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(
      () => reject(new Finding("the manager continued after SIGTERM", VALID_REQUEST)),
      RESPONSE_LIMIT_MS,
    ).unref();
  });
}

function createRequestMutant(random: Random): Buffer {
  const request = random.pick(REQUESTS);
  const base = random.chance(0.15) ? splice(request, random.pick(REQUESTS), random) : request;
  if (random.chance(0.05)) return base;
  // The port guard rejects requests whose first bytes lack the token, so half of the requests are damaged only after the token.
  return random.chance(0.5) ? damageAfterToken(base, random) : mutate(base, random);
}

const PREFIXES = [`GET /${TOKEN}/`, `POST /${TOKEN}/`].map((text) => Buffer.from(text));

function damageAfterToken(bytes: Buffer, random: Random): Buffer {
  const prefix = PREFIXES.find((one) => bytes.subarray(0, one.length).equals(one));
  if (prefix !== undefined) return Buffer.concat([prefix, mutate(bytes.subarray(prefix.length), random)]);
  const pathStart = bytes.indexOf(" /");
  return Buffer.concat([random.pick(PREFIXES), mutate(bytes.subarray(pathStart < 0 ? 0 : pathStart + 2), random)]);
}

type DeliveryPlan = { readonly pieces: number; readonly endMode: number; readonly waitMs: number };
const IMMEDIATE_DELIVERY: DeliveryPlan = { pieces: 1, endMode: 0, waitMs: 0 };

/** Sends the bytes in pieces, and then closes the connection, ends the sending side, resets the connection, or waits. */
function send(address: string, bytes: Buffer, plan: DeliveryPlan): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port: MANAGER_PORT });
    socket.on("error", () => {});
    socket.on("close", () => resolve());
    socket.on("data", () => {});
    socket.on("connect", () => {
      const size = Math.ceil(bytes.length / plan.pieces);
      for (let at = 0; at < bytes.length; at += size) socket.write(bytes.subarray(at, at + size));
      if (plan.endMode === 0) socket.destroySoon();
      if (plan.endMode === 1) socket.end();
      setTimeout(() => (plan.endMode === 2 ? socket.resetAndDestroy() : socket.destroy()), plan.waitMs);
    });
  });
}

async function requireResponse(manager: RunningProgram, address: string, batch: Buffer): Promise<void> {
  const sentMs = performance.now();
  const response = await exchange(address, VALID_REQUEST, RESPONSE_LIMIT_MS);
  const durationMs = Math.round(performance.now() - sentMs);
  if (/^HTTP\/1\.1 200 .*"version":1/s.test(response)) return;
  // If a sanitizer ended the manager, the sanitizer's report explains more than the missing response.
  const end = await Promise.race([
    manager.ended,
    pause(SANITIZER_REPORT_MS, "a sanitizer needs time to write its report"),
  ]);
  if (end !== undefined) requireCleanExit(end, [], batch);
  throw new Finding(`a valid request was answered after ${durationMs} ms with: "${response.slice(0, 500)}"`, batch);
}
