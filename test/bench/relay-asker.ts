/**
 * Draining Pods of the relay's benchmark, some hundred in one process: each a connection of its own, as managers have,
 * with prepared bytes on raw sockets. The first order opens the streams and is answered once every one of them said
 * `in`; any later one is answered with what was read so far.
 */
import { connect } from "node:tls";
import { CREDENTIAL_SCHEME, WITHDRAWAL_PATH, type WithdrawalQuestion } from "../../src/contract/relay-wire.ts";
import { type Asked, type AskOrder, machineMs } from "./relay-messages.ts";

const outMs: Record<string, number> = {};
let lines = 0;
let broken = 0;
let why = "";

/** A stream that says nothing for this long is not waited for. */
const KNOWN_LIMIT_MS = 60_000;

/** Resolves when the first line came that tells something, or none is expected any more. */
function ask(order: AskOrder, question: WithdrawalQuestion): Promise<void> {
  const { port, serverName, ca, credentials } = order;
  const socket = connect({ host: "127.0.0.1", port, ca, servername: serverName });
  const body = JSON.stringify(question);
  socket.write(
    `POST ${WITHDRAWAL_PATH} HTTP/1.1\r\nhost: ${serverName}\r\ncontent-type: application/json\r\n` +
      `authorization: ${CREDENTIAL_SCHEME} ${credentials[question.namespace]}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  socket.setEncoding("latin1");
  return new Promise((resolve) => {
    setTimeout(resolve, KNOWN_LIMIT_MS).unref();
    let begun = "";
    let isOut = false;
    const read = (line: string): void => {
      if (line.startsWith("HTTP/1.1 ") && !line.startsWith("HTTP/1.1 200")) why ||= line;
      if (!line.startsWith("{")) return;
      lines += 1;
      const { state } = JSON.parse(line);
      if (state === "in") resolve();
      if (state !== "out" || isOut) return;
      isOut = true;
      outMs[question.uid] = machineMs();
      resolve();
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
      if (!isOut) broken += 1;
      resolve();
    });
  });
}

async function open(order: AskOrder): Promise<void> {
  const startMs = machineMs();
  const known: Promise<void>[] = [];
  for (const [index, question] of order.questions.entries()) {
    const waitMs = startMs + (index * 1_000) / order.perSecond - machineMs();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    known.push(ask(order, question));
  }
  await Promise.all(known);
}

process.on("message", async (order: AskOrder | null) => {
  if (order !== null && "questions" in order) await open(order);
  process.send?.({ outMs, lines, broken, why } satisfies Asked);
});

process.on("disconnect", () => process.exit());
