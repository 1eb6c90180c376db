/** Damaged requests on the manager's port: whatever comes, the next sound request is answered. */
import { connect } from "node:net";
import { ownAddress } from "../../leases/own-address.ts";
import { pause } from "../../time/pause.ts";
import { WITHOUT_PORT_GUARD } from "../without-port-guard.ts";
import { mutated, spliced } from "./mutations.ts";
import { type Budget, Finding } from "./sanitize-part.ts";
import {
  demandCleanEnd,
  exchange,
  MANAGER_PORT,
  type Running,
  SANITIZED_MANAGER,
  start,
  TOKEN,
  untilSaid,
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
  // Half a character at the end of a path.
  "GET /aaaaaaa\xf0?x HTTP/1.1\r\nHost: x\r\n\r\n",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x12\x04\0\0\0\0\0",
].map((text) => Buffer.from(text, "latin1"));
const SOUND = Buffer.from(`GET /${TOKEN}/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);

const BATCH = 60;
/** Longer than the manager gives a stranger, on a machine with other work to do. */
const ANSWER_LIMIT_MS = 30_000;
const REPORT_MS = 5_000;

export async function httpMutants(budget: Budget): Promise<string> {
  // Where the port has no guard, everything reaches the parser.
  const managers = [await startedManager([]), await startedManager(WITHOUT_PORT_GUARD)];
  let sent = 0;
  while (budget.goesOn(sent))
    for (const manager of managers) {
      await sendBatch(manager, budget.random);
      sent += BATCH;
    }
  for (const { running } of managers) {
    running.child.kill("SIGTERM");
    demandCleanEnd(await Promise.race([running.ended, endTimeout()]), [0, 3], Buffer.alloc(0));
  }
  return `${sent} damaged requests, ${sent / BATCH} sound ones answered`;
}

type Manager = { readonly running: Running; readonly address: string };

async function startedManager(wrapper: readonly string[]): Promise<Manager> {
  const address = ownAddress();
  const flags = [`--address-scope=${address}`, "--hooks=app:app,web:app", "--drain-delay=1s", "--drain-timeout=3s"];
  const [command = "", ...words] = [...wrapper, SANITIZED_MANAGER, "serve", ...flags];
  const running = start(command, words);
  await untilSaid(running, /"listening"/, ANSWER_LIMIT_MS);
  return { running, address };
}

async function sendBatch({ running, address }: Manager, random: Random): Promise<void> {
  const batch = Array.from({ length: BATCH }, () => requestMutant(random));
  // The same choices whatever the order in which connections come about.
  const manners = batch.map(() => ({
    pieces: 1 + random.below(4),
    leaves: random.below(4),
    waitMs: random.below(60),
  }));
  await Promise.all(batch.map((bytes, n) => send(address, bytes, manners[n] ?? NO_MANNERS)));
  await demandAnswer(running, address, Buffer.concat(batch));
}

function endTimeout(): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Finding("the manager outlived its stop signal", SOUND)), ANSWER_LIMIT_MS).unref();
  });
}

function requestMutant(random: Random): Buffer {
  const request = random.pick(REQUESTS);
  const begun = random.chance(0.15) ? spliced(request, random.pick(REQUESTS), random) : request;
  if (random.chance(0.05)) return begun;
  // What does not begin with the token may be dropped before it is read: half of them keep it, and are damaged behind it.
  return random.chance(0.5) ? damagedAfterToken(begun, random) : mutated(begun, random);
}

const BEGINNINGS = [`GET /${TOKEN}/`, `POST /${TOKEN}/`].map((text) => Buffer.from(text));

function damagedAfterToken(bytes: Buffer, random: Random): Buffer {
  const beginning = BEGINNINGS.find((one) => bytes.subarray(0, one.length).equals(one));
  if (beginning !== undefined) return Buffer.concat([beginning, mutated(bytes.subarray(beginning.length), random)]);
  const path = bytes.indexOf(" /");
  return Buffer.concat([random.pick(BEGINNINGS), mutated(bytes.subarray(path < 0 ? 0 : path + 2), random)]);
}

type Manners = { readonly pieces: number; readonly leaves: number; readonly waitMs: number };
const NO_MANNERS: Manners = { pieces: 1, leaves: 0, waitMs: 0 };

/** In pieces, and leaving in one of four ways: at once, half, by reset, or as the manager likes for a while. */
function send(address: string, bytes: Buffer, manners: Manners): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port: MANAGER_PORT });
    socket.on("error", () => {});
    socket.on("close", () => resolve());
    socket.on("data", () => {});
    socket.on("connect", () => {
      const size = Math.ceil(bytes.length / manners.pieces);
      for (let at = 0; at < bytes.length; at += size) socket.write(bytes.subarray(at, at + size));
      if (manners.leaves === 0) socket.destroySoon();
      if (manners.leaves === 1) socket.end();
      setTimeout(() => (manners.leaves === 2 ? socket.resetAndDestroy() : socket.destroy()), manners.waitMs);
    });
  });
}

async function demandAnswer(manager: Running, address: string, batch: Buffer): Promise<void> {
  const askedMs = performance.now();
  const answer = await exchange(address, SOUND, ANSWER_LIMIT_MS);
  const tookMs = Math.round(performance.now() - askedMs);
  if (/^HTTP\/1\.1 200 .*"version":1/s.test(answer)) return;
  // A report takes its time to be written; its end tells more than the silence.
  const end = await Promise.race([
    manager.ended,
    pause(REPORT_MS, "a sanitizer's report takes its time to be written"),
  ]);
  if (end !== undefined) demandCleanEnd(end, [], batch);
  throw new Finding(`a sound request was answered after ${tookMs} ms with: "${answer.slice(0, 500)}"`, batch);
}
