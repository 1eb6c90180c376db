/**
 * Draining Pods of the relay's benchmark, some hundred in one process: each a connection of its own, as managers have,
 * with prepared bytes on raw sockets. The first order opens the streams and is answered once every one of them said
 * `in`; any later one is answered with what was read so far.
 */
import { connect } from "node:tls";
import {
  CREDENTIAL_SCHEME,
  WITHDRAWAL_HEARTBEAT_QUERY,
  WITHDRAWAL_PATH,
  type WithdrawalRequest,
} from "../src/contract/relay-wire.ts";
import { type Asked, type AskOrder, machineMs } from "./relay-messages.ts";

const outMs: Record<string, number> = {};
let lines = 0;
let broken = 0;
let why = "";

/** A stream that says nothing for this long is not waited for. */
const KNOWN_LIMIT_MS = 60_000;

/** A manager asks again, and so does this one. */
const AGAIN_MS = 1_000;

/** Resolves when the first line came that tells something, or none is expected any more. */
function askUntilKnown(order: AskOrder, question: WithdrawalRequest): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, KNOWN_LIMIT_MS).unref();
    const begin = (): void => {
      askOnce(order, question, (state) => {
        if (state === "broken") setTimeout(begin, AGAIN_MS * (0.5 + Math.random()));
        else resolve();
      });
    };
    begin();
  });
}

/** `broken` is said when the stream ended before it said `out`. */
function askOnce(order: AskOrder, question: WithdrawalRequest, heard: (state: "in" | "out" | "broken") => void): void {
  const { port, serverName, ca, credentials } = order;
  const socket = connect({ host: "127.0.0.1", port, ca, servername: serverName });
  const body = JSON.stringify(question);
  const path = order.heartbeat ? `${WITHDRAWAL_PATH}${WITHDRAWAL_HEARTBEAT_QUERY}` : WITHDRAWAL_PATH;
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: ${serverName}\r\ncontent-type: application/json\r\n` +
      `authorization: ${CREDENTIAL_SCHEME} ${credentials[question.namespace]}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  socket.setEncoding("latin1");
  let begun = "";
  let isOut = false;
  const read = (line: string): void => {
    if (line.startsWith("HTTP/1.1 ") && !line.startsWith("HTTP/1.1 200")) why ||= line;
    if (!line.startsWith("{")) return;
    lines += 1;
    const { state } = JSON.parse(line);
    if (state === "in") heard("in");
    if (state !== "out" || isOut) return;
    isOut = true;
    outMs[question.uid] = machineMs();
    heard("out");
  };
  socket.on("data", (chunk: string) => {
    const parts = (begun + chunk).split("\n");
    begun = parts.pop() ?? "";
    for (const part of parts) read(part);
  });
  socket.on("error", (error) => {
    why ||= error.message;
  });
  socket.on("close", () => {
    if (isOut) return;
    broken += 1;
    heard("broken");
  });
}

async function open(order: AskOrder): Promise<void> {
  const startMs = machineMs();
  const known: Promise<void>[] = [];
  for (const [index, question] of order.questions.entries()) {
    const waitMs = startMs + (index * 1_000) / order.perSecond - machineMs();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    known.push(askUntilKnown(order, question));
  }
  await Promise.all(known);
}

process.on("message", async (order: AskOrder | null) => {
  if (order !== null && "questions" in order) await open(order);
  process.send?.({ outMs, lines, broken, why } satisfies Asked);
});

process.on("disconnect", () => process.exit());
