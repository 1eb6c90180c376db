/** Runs one WebSocket, TCP session or UDP flow that exchanges messages continuously, and closes after a given time or never. */
import { createSocket } from "node:dgram";
import { connect } from "node:net";
import type { ClientCounts, ClientEnvironment, Clients } from "./envoy-scenario.ts";
import { PROXY_PORTS } from "./upstream-ports.ts";

const HELLO = "hello";
const PACE_MS = 200;
const RESPONSE_LIMIT_MS = 2_000;

export function webSocket(closesAfterMs: number): (environment: ClientEnvironment) => Promise<Clients> {
  return (environment) => {
    const socket = new WebSocket(`ws://${environment.pod}:${PROXY_PORTS.web}/`);
    return runSession(environment, closesAfterMs, {
      send: () => socket.send(HELLO),
      close: () => socket.close(),
      listen: (onOpen, onMessage, onClose) => {
        socket.addEventListener("open", onOpen);
        socket.addEventListener("message", onMessage);
        socket.addEventListener("close", onClose);
        socket.addEventListener("error", () => {});
      },
    });
  };
}

export function tcpSession(closesAfterMs: number): (environment: ClientEnvironment) => Promise<Clients> {
  return (environment) => {
    const socket = connect({ host: environment.pod, port: PROXY_PORTS.tcp, localAddress: environment.sourceAddress });
    return runSession(environment, closesAfterMs, {
      send: () => socket.write(HELLO),
      close: () => socket.end(),
      listen: (onOpen, onMessage, onClose) => {
        let bytes = 0;
        socket.once("connect", onOpen).once("close", onClose);
        socket.on("data", (chunk: Buffer) => {
          for (bytes += chunk.length; bytes >= HELLO.length; bytes -= HELLO.length) onMessage();
        });
        socket.on("error", () => socket.destroy());
      },
    });
  };
}

/** A UDP flow cannot be closed, so the proxy ends it after its idle timeout. */
export function udpFlow(closesAfterMs: number): (environment: ClientEnvironment) => Promise<Clients> {
  return async (environment) => {
    const socket = createSocket("udp4");
    await new Promise<void>((done) => socket.bind(0, environment.sourceAddress, done));
    const flow = await runSession(environment, closesAfterMs, {
      send: () => socket.send(HELLO, PROXY_PORTS.udp, environment.pod),
      close: () => {},
      listen: (onOpen, onMessage) => {
        socket.on("message", onMessage);
        socket.on("error", () => {});
        onOpen();
      },
    });
    return {
      ...flow,
      lastTrafficMs: () => flow.receivedMs(),
      stop: async () => {
        await flow.stop();
        socket.close();
      },
    };
  };
}

type Session = {
  readonly send: () => void;
  readonly close: () => void;
  readonly listen: (onOpen: () => void, onMessage: () => void, onClose: () => void) => void;
};

type SessionClient = Clients & { readonly receivedMs: () => number };

async function runSession(
  { clock }: ClientEnvironment,
  closesAfterMs: number,
  session: Session,
): Promise<SessionClient> {
  const counts: ClientCounts = { answered: 0, failures: [] };
  let lastTrafficMs = clock.nowMs();
  let receivedMs = lastTrafficMs;
  let sentMessages = 0;
  let isOpen = true;
  let isClosing = false;
  const onMessage = () => {
    counts.answered += 1;
    receivedMs = clock.nowMs();
    lastTrafficMs = receivedMs;
  };
  const close = async () => {
    if (!isOpen || isClosing) return;
    isClosing = true;
    clearInterval(timer);
    const untilMs = clock.nowMs() + RESPONSE_LIMIT_MS;
    while (counts.answered < sentMessages && clock.nowMs() < untilMs) await clock.wait(20);
    if (counts.answered < sentMessages)
      counts.failures.push(`${sentMessages - counts.answered} of ${sentMessages} messages unanswered`);
    isOpen = false;
    lastTrafficMs = clock.nowMs();
    session.close();
  };
  const send = () => {
    sentMessages += 1;
    session.send();
  };
  const timer = setInterval(() => counts.answered > 0 && send(), PACE_MS);
  await new Promise<void>((ready) => {
    const onClose = () => {
      if (!isOpen) return;
      isOpen = false;
      clearInterval(timer);
      counts.failures.push("the session was cut");
      ready();
    };
    session.listen(
      () => send(),
      () => {
        onMessage();
        ready();
      },
      onClose,
    );
  });
  if (Number.isFinite(closesAfterMs)) void clock.wait(closesAfterMs).then(close);
  return { counts, lastTrafficMs: () => lastTrafficMs, receivedMs: () => receivedMs, withdraw: () => {}, stop: close };
}
