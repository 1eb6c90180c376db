/**
 * Strangers at the manager's port, as a program of their own:
 * `node strangers.ts silent HOST PORT COUNT ADDRESSES` keeps so many silent connections, each opened again when it is closed;
 * `node strangers.ts churn HOST PORT PER_SECOND ADDRESSES` opens so many a second, and leaves in three ways.
 * They come from ADDRESSES addresses of 10.9.1.0/24 and say on the standard output when they have begun, and in the end,
 * when the input ends, what they did.
 */
import { connect, type Socket } from "node:net";

const [kind = "", host = "", portText = "", amountText = "", addressesText = ""] = process.argv.slice(2);
const [port, amount, addresses] = [Number(portText), Number(amountText), Number(addressesText)];

const TICK_MS = 10;
/** A process that got no turn does not make up for all of it. */
const MOST_PER_TICK = 200;
const STAYS_MS = 50;
/** To come again at once would be a loop without a turn for anyone where the port refuses. */
const AGAIN_MS = 1;

let opened = 0;
let closedByManager = 0;
let next = 0;

function open(): Socket {
  next += 1;
  opened += 1;
  const socket = connect({ host, port, localAddress: `10.9.1.${1 + (next % addresses)}` });
  socket.on("error", () => {});
  socket.resume();
  return socket;
}

function stay(): void {
  open().on("close", () => {
    closedByManager += 1;
    setTimeout(stay, AGAIN_MS);
  });
}

const PIECES = ["", "GET /", "GET /another-token/prestop/app HTTP/1.1\r\nHost: x\r\n\r\n"];

function come(): void {
  const socket = open();
  const piece = PIECES[next % PIECES.length] ?? "";
  socket.on("connect", () => {
    if (piece === "") socket.destroy();
    else socket.write(piece);
    setTimeout(() => socket.resetAndDestroy(), STAYS_MS);
  });
}

if (kind === "silent") for (let count = 0; count < amount; count += 1) stay();
else {
  let owed = 0;
  let lastMs = performance.now();
  setInterval(() => {
    const nowMs = performance.now();
    owed = Math.min(MOST_PER_TICK, owed + ((nowMs - lastMs) * amount) / 1_000);
    lastMs = nowMs;
    for (; owed >= 1; owed -= 1) come();
  }, TICK_MS);
}
process.stdout.write("begun\n");
process.stdin.resume();
process.stdin.on("end", () => {
  process.stdout.write(`${JSON.stringify({ opened, closedByManager })}\n`, () => process.exit(0));
});
