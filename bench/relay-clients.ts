/**
 * Runs the relay clients of some hundred draining Pods in one process, each with its own connection, and writes prepared bytes
 * to sockets. The first command opens the streams; its reply follows when each stream has received a status, or after
 * FIRST_STATUS_LIMIT_MS. The reply to every command contains the results up to the reply.
 */
import { connect } from "node:tls";
import {
  CREDENTIAL_SCHEME,
  WITHDRAWAL_HEARTBEAT_QUERY,
  WITHDRAWAL_PATH,
  type WithdrawalRequest,
} from "../src/contract/relay-wire.ts";
import { monotonicMs, type StreamCommand, type StreamResults } from "./relay-messages.ts";

const outMsByUid: Record<string, number> = {};
let lines = 0;
let broken = 0;
let brokenReason = "";

const FIRST_STATUS_LIMIT_MS = 60_000;

const RETRY_DELAY_MS = 1_000;

function openUntilStatus(command: StreamCommand, request: WithdrawalRequest): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, FIRST_STATUS_LIMIT_MS).unref();
    const connectAgain = (): void => {
      openStream(command, request, (state) => {
        if (state === "broken") setTimeout(connectAgain, RETRY_DELAY_MS * (0.5 + Math.random()));
        else resolve();
      });
    };
    connectAgain();
  });
}

function openStream(
  command: StreamCommand,
  request: WithdrawalRequest,
  onState: (state: "in" | "out" | "broken") => void,
): void {
  const { port, serverName, caPem, credentialByNamespace } = command;
  const socket = connect({ host: "127.0.0.1", port, ca: caPem, servername: serverName });
  const body = JSON.stringify(request);
  const path = command.heartbeat ? `${WITHDRAWAL_PATH}${WITHDRAWAL_HEARTBEAT_QUERY}` : WITHDRAWAL_PATH;
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: ${serverName}\r\ncontent-type: application/json\r\n` +
      `authorization: ${CREDENTIAL_SCHEME} ${credentialByNamespace[request.namespace]}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  socket.setEncoding("latin1");
  let partialLine = "";
  let isWithdrawn = false;
  const readLine = (line: string): void => {
    if (line.startsWith("HTTP/1.1 ") && !line.startsWith("HTTP/1.1 200")) brokenReason ||= line;
    if (!line.startsWith("{")) return;
    lines += 1;
    const { state } = JSON.parse(line);
    if (state === "in") onState("in");
    if (state !== "out" || isWithdrawn) return;
    isWithdrawn = true;
    outMsByUid[request.uid] = monotonicMs();
    onState("out");
  };
  socket.on("data", (chunk: string) => {
    const parts = (partialLine + chunk).split("\n");
    partialLine = parts.pop() ?? "";
    for (const part of parts) readLine(part);
  });
  socket.on("error", (error) => {
    brokenReason ||= error.message;
  });
  socket.on("close", () => {
    if (isWithdrawn) return;
    broken += 1;
    onState("broken");
  });
}

async function openStreams(command: StreamCommand): Promise<void> {
  const startMs = monotonicMs();
  const openings: Promise<void>[] = [];
  for (const [index, request] of command.requests.entries()) {
    const waitMs = startMs + (index * 1_000) / command.streamsPerSecond - monotonicMs();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    openings.push(openUntilStatus(command, request));
  }
  await Promise.all(openings);
}

process.on("message", async (command: StreamCommand | null) => {
  if (command !== null && "requests" in command) await openStreams(command);
  process.send?.({ outMsByUid, lines, broken, brokenReason } satisfies StreamResults);
});

process.on("disconnect", () => process.exit());
