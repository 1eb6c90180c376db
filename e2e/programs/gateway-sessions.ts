/**
 * Runs WebSocket, TCP and UDP sessions that exchange messages for 1 to 10 s, and one idle HTTP/1.1 connection that stays open after its
 * request. A new session replaces each session that has ended.
 */
import { createSocket } from "node:dgram";
import { connect } from "node:net";
import { realClock } from "../../src/demo/clock.ts";
import type { GatewayCounts, SessionKind } from "./gateway-load-kinds.ts";

const SESSIONS = 8;
const MESSAGE_INTERVAL_MS = 200;
const MIN_SESSION_MS = 1_000;
const MAX_SESSION_MS = 10_000;
const RECONNECT_AFTER_MS = 200;
const LAST_RESPONSE_LIMIT_MS = 2_000;
const OPEN_LIMIT_MS = 10_000;
const MAX_FAILURES = 20;
const LONGER_THAN_ANY_CASE_MS = 3_600_000;

const MESSAGE = "hello";
const IDLE_REQUEST = "GET / HTTP/1.1\r\nHost: gateway.example\r\n\r\n";

type Target = { readonly host: string; readonly port: number };
type Session = { readonly send: () => void; readonly close: () => void };
type SessionEvents = { readonly onOpen: () => void; readonly onMessage: () => void; readonly onClose: () => void };
type Exchange = { sentCount: number; receivedCount: number; readonly closeController: AbortController };

export function startSessions(kind: SessionKind, target: Target): { readonly stop: () => Promise<GatewayCounts> } {
  const counts = { requests: 0, failed: 0, failures: [] as string[] };
  const stopping = new AbortController();
  const runSessions = async () => {
    while (!stopping.signal.aborted) {
      const { failure, received } = await runOneSession(kind, target, stopping.signal);
      counts.requests += received;
      if (failure !== "") {
        counts.failed += 1;
        if (counts.failures.length < MAX_FAILURES) counts.failures.push(failure);
      }
      await realClock.wait(RECONNECT_AFTER_MS, stopping.signal);
    }
  };
  const sessions = Array.from({ length: kind === "idle" ? 1 : SESSIONS }, runSessions);
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(sessions);
      return counts;
    },
  };
}

async function runOneSession(
  kind: SessionKind,
  target: Target,
  stop: AbortSignal,
): Promise<{ readonly failure: string; readonly received: number }> {
  const exchange: Exchange = { sentCount: 0, receivedCount: 0, closeController: new AbortController() };
  const opened = Promise.withResolvers<boolean>();
  const session = OPENERS[kind](target, kind === "idle" ? IDLE_REQUEST : MESSAGE, {
    onOpen: () => opened.resolve(true),
    onMessage: () => {
      exchange.receivedCount += 1;
    },
    onClose: () => {
      opened.resolve(false);
      exchange.closeController.abort();
    },
  });
  // A connection to the address of a deleted Pod is not refused, so the attempt needs a limit.
  const timeout = setTimeout(() => opened.resolve(false), OPEN_LIMIT_MS);
  const isOpen = await opened.promise;
  clearTimeout(timeout);
  if (!isOpen) {
    session.close();
    return { failure: "not opened", received: 0 };
  }
  await (kind === "idle" ? exchangeOnce : exchangeRepeatedly)(session, exchange, stop);
  const { sentCount, receivedCount, closeController } = exchange;
  // A server may close an idle connection.
  const isInterrupted = closeController.signal.aborted && kind !== "idle";
  session.close();
  if (receivedCount < sentCount)
    return { failure: `${sentCount - receivedCount} of ${sentCount} messages unanswered`, received: receivedCount };
  return { failure: isInterrupted ? "session cut" : "", received: receivedCount };
}

async function exchangeRepeatedly(session: Session, exchange: Exchange, stop: AbortSignal): Promise<void> {
  const durationMs = MIN_SESSION_MS + Math.random() * (MAX_SESSION_MS - MIN_SESSION_MS);
  const endMs = performance.now() + durationMs;
  const { signal } = exchange.closeController;
  while (!signal.aborted && !stop.aborted && performance.now() < endMs) {
    session.send();
    exchange.sentCount += 1;
    await realClock.wait(MESSAGE_INTERVAL_MS, signal);
  }
  await waitForResponses(exchange);
}

async function exchangeOnce(session: Session, exchange: Exchange, stop: AbortSignal): Promise<void> {
  session.send();
  exchange.sentCount = 1;
  await waitForResponses(exchange);
  await realClock.wait(LONGER_THAN_ANY_CASE_MS, AbortSignal.any([exchange.closeController.signal, stop]));
  // TCP may deliver one response in several pieces.
  exchange.receivedCount = Math.min(exchange.receivedCount, 1);
}

async function waitForResponses(exchange: Exchange): Promise<void> {
  const deadlineMs = performance.now() + LAST_RESPONSE_LIMIT_MS;
  while (
    exchange.receivedCount < exchange.sentCount &&
    !exchange.closeController.signal.aborted &&
    performance.now() < deadlineMs
  )
    await realClock.wait(20);
}

/** A datagram without an answer is a failure; the socket itself never fails to open, and nothing closes it. */
function openUdp({ host, port }: Target, message: string, events: SessionEvents): Session {
  const socket = createSocket("udp4");
  socket.on("message", events.onMessage).on("error", () => {});
  socket.connect(port, host, events.onOpen);
  return { send: () => void socket.send(message), close: () => void socket.close() };
}

function openTcp({ host, port }: Target, message: string, events: SessionEvents): Session {
  const socket = connect({ host, port });
  socket.once("connect", events.onOpen).once("close", events.onClose);
  socket.on("error", () => socket.destroy());
  socket.on("data", events.onMessage);
  return { send: () => void socket.write(message), close: () => void socket.destroy() };
}

function openWebSocket({ host, port }: Target, message: string, events: SessionEvents): Session {
  const socket = new WebSocket(`ws://${host}:${port}/ws`);
  socket.addEventListener("open", events.onOpen);
  socket.addEventListener("message", events.onMessage);
  socket.addEventListener("close", events.onClose);
  socket.addEventListener("error", () => {});
  return { send: () => socket.send(message), close: () => socket.close() };
}

const OPENERS: Readonly<Record<SessionKind, typeof openTcp>> = {
  websocket: openWebSocket,
  tcp: openTcp,
  udp: openUdp,
  idle: openTcp,
};
