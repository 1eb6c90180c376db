/**
 * Runs WebSocket and TCP sessions that exchange messages for 1 to 10 s, and one idle HTTP/1.1 connection that stays open after its
 * request. A new session replaces each session that has ended.
 */
import { connect } from "node:net";
import { realClock } from "../../src/demo/clock.ts";
import type { GatewayCounts, SessionKind } from "./gateway-load-kinds.ts";

const SESSIONS = 8;
const MESSAGE_INTERVAL_MS = 200;
const MIN_SESSION_MS = 1_000;
const MAX_SESSION_MS = 10_000;
const RECONNECT_AFTER_MS = 200;
const LAST_ANSWER_LIMIT_MS = 2_000;
const OPEN_LIMIT_MS = 10_000;
const MAX_FAILURES = 20;
const LONGER_THAN_ANY_CASE_MS = 3_600_000;

const MESSAGE = "hello";
const IDLE_REQUEST = "GET / HTTP/1.1\r\nHost: gateway.example\r\n\r\n";

type Target = { readonly host: string; readonly port: number };
type Session = { readonly send: () => void; readonly close: () => void };
type SessionEvents = { readonly opened: () => void; readonly received: () => void; readonly closed: () => void };
type Exchange = { sent: number; received: number; readonly ended: AbortController };

export function startSessions(kind: SessionKind, target: Target): { readonly stop: () => Promise<GatewayCounts> } {
  const counts = { requests: 0, failed: 0, failures: [] as string[] };
  const stopping = new AbortController();
  const repeat = async () => {
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
  const sessions = Array.from({ length: kind === "idle" ? 1 : SESSIONS }, repeat);
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
  const exchange: Exchange = { sent: 0, received: 0, ended: new AbortController() };
  const opened = Promise.withResolvers<boolean>();
  const open = kind === "websocket" ? openWebSocket : openTcp;
  const session = open(target, kind === "idle" ? IDLE_REQUEST : MESSAGE, {
    opened: () => opened.resolve(true),
    received: () => {
      exchange.received += 1;
    },
    closed: () => {
      opened.resolve(false);
      exchange.ended.abort();
    },
  });
  // A Pod that is gone does not reject a connection.
  const timeout = setTimeout(() => opened.resolve(false), OPEN_LIMIT_MS);
  const isOpen = await opened.promise;
  clearTimeout(timeout);
  if (!isOpen) {
    session.close();
    return { failure: "not opened", received: 0 };
  }
  await (kind === "idle" ? exchangeOnce : exchangeRepeatedly)(session, exchange, stop);
  const { sent, received, ended } = exchange;
  // A server may close an idle connection.
  const wasCut = ended.signal.aborted && kind !== "idle";
  session.close();
  if (received < sent) return { failure: `${sent - received} of ${sent} messages unanswered`, received };
  return { failure: wasCut ? "session cut" : "", received };
}

async function exchangeRepeatedly(session: Session, exchange: Exchange, stop: AbortSignal): Promise<void> {
  const lengthMs = MIN_SESSION_MS + Math.random() * (MAX_SESSION_MS - MIN_SESSION_MS);
  const endsMs = performance.now() + lengthMs;
  const { signal } = exchange.ended;
  while (!signal.aborted && !stop.aborted && performance.now() < endsMs) {
    session.send();
    exchange.sent += 1;
    await realClock.wait(MESSAGE_INTERVAL_MS, signal);
  }
  await waitForAnswers(exchange);
}

async function exchangeOnce(session: Session, exchange: Exchange, stop: AbortSignal): Promise<void> {
  session.send();
  exchange.sent = 1;
  await waitForAnswers(exchange);
  await realClock.wait(LONGER_THAN_ANY_CASE_MS, AbortSignal.any([exchange.ended.signal, stop]));
  // TCP may deliver one response in several pieces.
  exchange.received = Math.min(exchange.received, 1);
}

async function waitForAnswers(exchange: Exchange): Promise<void> {
  const limitMs = performance.now() + LAST_ANSWER_LIMIT_MS;
  while (exchange.received < exchange.sent && !exchange.ended.signal.aborted && performance.now() < limitMs)
    await realClock.wait(20);
}

function openTcp({ host, port }: Target, message: string, events: SessionEvents): Session {
  const socket = connect({ host, port });
  socket.once("connect", events.opened).once("close", events.closed);
  socket.on("error", () => socket.destroy());
  socket.on("data", events.received);
  return { send: () => void socket.write(message), close: () => void socket.destroy() };
}

function openWebSocket({ host, port }: Target, message: string, events: SessionEvents): Session {
  const socket = new WebSocket(`ws://${host}:${port}/ws`);
  socket.addEventListener("open", events.opened);
  socket.addEventListener("message", events.received);
  socket.addEventListener("close", events.closed);
  socket.addEventListener("error", () => {});
  return { send: () => socket.send(message), close: () => socket.close() };
}
