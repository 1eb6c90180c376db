/**
 * Opens unauthenticated connections to the manager's port, from ADDRESSES addresses of 10.9.1.0/24:
 * `node attack-clients.ts silent HOST PORT COUNT ADDRESSES` keeps COUNT silent connections and reopens closed ones;
 * `node attack-clients.ts churn HOST PORT PER_SECOND ADDRESSES` opens connections and closes them in three ways.
 * Prints `started`, and the counts of connections when stdin ends.
 */
import { connect, type Socket } from "node:net";

const [kind = "", host = "", portText = "", amountText = "", addressesText = ""] = process.argv.slice(2);
const [port, amount, addresses] = [Number(portText), Number(amountText), Number(addressesText)];

const TICK_MS = 10;
/** Limits the burst after a pause of the process. */
const MAX_PER_TICK = 200;
const CONNECTION_MS = 50;
/** Reopening immediately would block the event loop while the port refuses connections. */
const REOPEN_DELAY_MS = 1;

let openedCount = 0;
let closedByManager = 0;
let openIndex = 0;

function open(): Socket {
  openIndex += 1;
  openedCount += 1;
  const socket = connect({ host, port, localAddress: `10.9.1.${1 + (openIndex % addresses)}` });
  socket.on("error", () => {});
  socket.resume();
  return socket;
}

function openSilent(): void {
  open().on("close", () => {
    closedByManager += 1;
    setTimeout(openSilent, REOPEN_DELAY_MS);
  });
}

const PIECES = ["", "GET /", "GET /another-token/prestop/app HTTP/1.1\r\nHost: x\r\n\r\n"];

function openBriefly(): void {
  const socket = open();
  const piece = PIECES[openIndex % PIECES.length] ?? "";
  socket.on("connect", () => {
    if (piece === "") socket.destroy();
    else socket.write(piece);
    setTimeout(() => socket.resetAndDestroy(), CONNECTION_MS);
  });
}

if (kind === "silent") for (let count = 0; count < amount; count += 1) openSilent();
else {
  let dueCount = 0;
  let lastMs = performance.now();
  setInterval(() => {
    const nowMs = performance.now();
    dueCount = Math.min(MAX_PER_TICK, dueCount + ((nowMs - lastMs) * amount) / 1_000);
    lastMs = nowMs;
    for (; dueCount >= 1; dueCount -= 1) openBriefly();
  }, TICK_MS);
}
process.stdout.write("started\n");
process.stdin.resume();
process.stdin.on("end", () => {
  process.stdout.write(`${JSON.stringify({ opened: openedCount, closedByManager })}\n`, () => process.exit(0));
});
