/**
 * Acts as the managers of some hundred draining Pods in one process, each with its own connection, with prepared bytes on raw
 * sockets. The first order opens the streams and is answered once every stream has sent `in`; any later one is answered with
 * the results so far.
 */
import { connect } from "node:tls";
import {
  CREDENTIAL_SCHEME,
  WITHDRAWAL_HEARTBEAT_QUERY,
  WITHDRAWAL_PATH,
  type WithdrawalRequest,
} from "../src/contract/relay-wire.ts";
import { machineMs, type StreamOrder, type StreamResults } from "./relay-messages.ts";

const outMsByUid: Record<string, number> = {};
let lines = 0;
let broken = 0;
let brokenReason = "";

const FIRST_STATUS_LIMIT_MS = 60_000;

const RETRY_DELAY_MS = 1_000;

function openUntilKnown(order: StreamOrder, request: WithdrawalRequest): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, FIRST_STATUS_LIMIT_MS).unref();
    const start = (): void => {
      openOnce(order, request, (state) => {
        if (state === "broken") setTimeout(start, RETRY_DELAY_MS * (0.5 + Math.random()));
        else resolve();
      });
    };
    start();
  });
}

function openOnce(
  order: StreamOrder,
  request: WithdrawalRequest,
  onState: (state: "in" | "out" | "broken") => void,
): void {
  const { port, serverName, caPem, credentialByNamespace } = order;
  const socket = connect({ host: "127.0.0.1", port, ca: caPem, servername: serverName });
  const body = JSON.stringify(request);
  const path = order.heartbeat ? `${WITHDRAWAL_PATH}${WITHDRAWAL_HEARTBEAT_QUERY}` : WITHDRAWAL_PATH;
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: ${serverName}\r\ncontent-type: application/json\r\n` +
      `authorization: ${CREDENTIAL_SCHEME} ${credentialByNamespace[request.namespace]}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  socket.setEncoding("latin1");
  let partialLine = "";
  let isOut = false;
  const read = (line: string): void => {
    if (line.startsWith("HTTP/1.1 ") && !line.startsWith("HTTP/1.1 200")) brokenReason ||= line;
    if (!line.startsWith("{")) return;
    lines += 1;
    const { state } = JSON.parse(line);
    if (state === "in") onState("in");
    if (state !== "out" || isOut) return;
    isOut = true;
    outMsByUid[request.uid] = machineMs();
    onState("out");
  };
  socket.on("data", (chunk: string) => {
    const parts = (partialLine + chunk).split("\n");
    partialLine = parts.pop() ?? "";
    for (const part of parts) read(part);
  });
  socket.on("error", (error) => {
    brokenReason ||= error.message;
  });
  socket.on("close", () => {
    if (isOut) return;
    broken += 1;
    onState("broken");
  });
}

async function open(order: StreamOrder): Promise<void> {
  const startMs = machineMs();
  const opened: Promise<void>[] = [];
  for (const [index, request] of order.requests.entries()) {
    const waitMs = startMs + (index * 1_000) / order.streamsPerSecond - machineMs();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    opened.push(openUntilKnown(order, request));
  }
  await Promise.all(opened);
}

process.on("message", async (order: StreamOrder | null) => {
  if (order !== null && "requests" in order) await open(order);
  process.send?.({ outMsByUid, lines, broken, brokenReason } satisfies StreamResults);
});

process.on("disconnect", () => process.exit());
