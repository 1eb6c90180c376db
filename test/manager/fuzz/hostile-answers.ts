/** Responds to the manager's calls with damaged, truncated, slow or missing bytes, and checks the results. */
import { createServer, type Server, type Socket } from "node:net";
import { pause } from "../../time/pause.ts";
import { mutate } from "./mutations.ts";
import { METRICS } from "./samples.ts";
import { type Budget, Finding } from "./sanitize-part.ts";
import { FUZZ_FOLDER, requireCleanExit, start } from "./sanitized-process.ts";
import { createRandom, type Random, seedOf } from "./seeded-random.ts";

export const CALLER_PROGRAM = `${FUZZ_FOLDER}/caller-sanitize`;

const responseWithBody = (body: string, fields = ""): Buffer =>
  Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n${fields}\r\n${body}`);
const chunkedResponse = (...chunks: readonly string[]): Buffer =>
  Buffer.from(
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${[...chunks, ""].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("")}`,
  );
/** Responses with a length, so that a truncation is detectable. */
const RESPONSES_WITH_LENGTH = [
  responseWithBody("12"),
  responseWithBody('{"version":1}', "Connection: close\r\n"),
  responseWithBody(METRICS),
  responseWithBody("7".repeat(20_000)),
  chunkedResponse("1", "2\n"),
  chunkedResponse(METRICS.slice(0, 50), METRICS.slice(50)),
];
const RESPONSES = [
  ...RESPONSES_WITH_LENGTH,
  Buffer.from("HTTP/1.0 200 OK\r\n\r\n0"),
  Buffer.from("HTTP/1.1 204 No Content\r\n\r\n"),
  Buffer.from("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n3"),
  Buffer.from("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nRetry-After: 1\r\n\r\n"),
  Buffer.from("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nabc"),
  Buffer.from(`HTTP/1.1 200 OK\r\nX-Long: ${"h".repeat(30_000)}\r\nContent-Length: 1\r\n\r\n5`),
  Buffer.from(`HTTP/1.1 200 OK\r\n\r\n${"9".repeat(90_000)}`),
  Buffer.from("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"),
];

type PlannedResponse = { readonly bytes: Buffer; readonly isCut: boolean; readonly deliveryMode: number };

/** Derives the response from the seed and the call's number alone, so that a seed reproduces it. */
function responseTo(seed: number, n: number): PlannedResponse {
  const random: Random = createRandom(seedOf(seed, String(n)));
  // Every fourth call (n % 4 = 1) runs a chained hook, which waits five seconds for an unfinished response. To save time, few of the
  // responses to these calls are unfinished.
  const deliveryMode = random.below(n % 4 === 1 && random.chance(0.9) ? OPEN_DELIVERY_MODE : OPEN_DELIVERY_MODE + 1);
  const responseWithLength = random.pick(RESPONSES_WITH_LENGTH);
  if (random.chance(0.15))
    return {
      bytes: responseWithLength.subarray(0, random.below(responseWithLength.length)),
      isCut: true,
      deliveryMode,
    };
  const response = random.pick(RESPONSES);
  return { bytes: random.chance(0.1) ? response : mutate(response, random), isCut: false, deliveryMode };
}

const PIECE_INTERVAL_MS = 5;
/** The delivery mode that leaves the response unfinished. */
const OPEN_DELIVERY_MODE = 59;

async function respond(socket: Socket, { bytes, deliveryMode }: PlannedResponse): Promise<void> {
  const pieces = deliveryMode < 50 ? 1 + (deliveryMode % 3) : 6;
  const size = Math.max(1, Math.ceil(bytes.length / pieces));
  for (let at = 0; at < bytes.length; at += size) {
    socket.write(bytes.subarray(at, at + size));
    if (pieces > 1) await pause(PIECE_INTERVAL_MS, "each piece is a segment of its own");
  }
  if (deliveryMode === OPEN_DELIVERY_MODE) return;
  if (deliveryMode % 8 === 7) socket.resetAndDestroy();
  else socket.end();
}

function openApp(seed: number): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((socket) => {
    let received = "";
    socket.on("error", () => {});
    socket.on("data", (chunk: Buffer) => {
      if (received.includes("\r\n\r\n")) return;
      received += chunk.toString("latin1");
      const n = /^GET \/([0-9]+) /.exec(received)?.[1];
      if (received.includes("\r\n\r\n")) void respond(socket, responseTo(seed, Number(n ?? "0")));
    });
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve({ server, port: typeof address === "object" && address !== null ? address.port : 0 });
    });
  });
}

const BATCH_SIZE = 300;

export async function testHostileResponses(budget: Budget): Promise<string> {
  const seed = budget.random.below(0xffffffff);
  const app = await openApp(seed);
  let callCount = 0;
  let acceptedCount = 0;
  try {
    while (budget.shouldContinue(callCount)) {
      const end = await start(CALLER_PROGRAM, [String(app.port), String(callCount), String(BATCH_SIZE)]).ended;
      const input = Buffer.from(
        `answers of seed ${seed}, numbers ${callCount} to ${callCount + BATCH_SIZE - 1}\n${end.stdout}`,
      );
      requireCleanExit(end, [0], input);
      acceptedCount += countAccepted(end.stdout, seed, input);
      callCount += BATCH_SIZE;
    }
  } finally {
    app.server.close();
  }
  return `${callCount} calls, ${acceptedCount} accepted as complete`;
}

/** @returns the number of accepted responses. @throws Finding if a result is missing or a truncated response was accepted */
function countAccepted(out: string, seed: number, input: Buffer): number {
  const lines = out.trimEnd().split("\n");
  if (lines.length !== BATCH_SIZE) throw new Finding(`${BATCH_SIZE} calls had ${lines.length} results`, input);
  const acceptedLines = lines.filter((line) => / whole | answered$/.test(line));
  for (const line of acceptedLines) {
    const n = Number(line.split(" ")[0]);
    if (responseTo(seed, n).isCut) throw new Finding(`a truncated response was accepted as complete: ${line}`, input);
  }
  return acceptedLines.length;
}
