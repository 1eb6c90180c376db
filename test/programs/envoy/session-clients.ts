/** Runs one WebSocket, TCP session or UDP flow that exchanges messages continuously, and closes after a given time or never. */
import { createSocket } from "node:dgram";
import { connect } from "node:net";
import { UDP_IDLE_MS } from "./envoy-config.ts";
import type { ClientCounts, ClientEnvironment, Clients } from "./envoy-scenario.ts";
import { PROXY_PORTS } from "./upstream-ports.ts";

const HELLO = "hello";
const PACE_MS = 200;
const ANSWER_LIMIT_MS = 2_000;

export function webSocket(closesAfterMs: number): (target: ClientEnvironment) => Promise<Clients> {
  return (target) => {
    const socket = new WebSocket(`ws://${target.pod}:${PROXY_PORTS.web}/`);
    return runSession(target, closesAfterMs, {
      send: () => socket.send(HELLO),
      close: () => socket.close(),
      on: (opened, received, closed) => {
        socket.addEventListener("open", opened);
        socket.addEventListener("message", received);
        socket.addEventListener("close", closed);
        socket.addEventListener("error", () => {});
      },
    });
  };
}

export function tcpSession(closesAfterMs: number): (target: ClientEnvironment) => Promise<Clients> {
  return (target) => {
    const socket = connect({ host: target.pod, port: PROXY_PORTS.tcp, localAddress: target.sourceAddress });
    return runSession(target, closesAfterMs, {
      send: () => socket.write(HELLO),
      close: () => socket.end(),
      on: (opened, received, closed) => {
        let bytes = 0;
        socket.once("connect", opened).once("close", closed);
        socket.on("data", (chunk: Buffer) => {
          for (bytes += chunk.length; bytes >= HELLO.length; bytes -= HELLO.length) received();
        });
        socket.on("error", () => socket.destroy());
      },
    });
  };
}

/** A UDP flow has no close: the proxy ends it after its idle timeout. */
export function udpFlow(closesAfterMs: number): (target: ClientEnvironment) => Promise<Clients> {
  return async (target) => {
    const socket = createSocket("udp4");
    await new Promise<void>((done) => socket.bind(0, target.sourceAddress, done));
    const flow = await runSession(target, closesAfterMs, {
      send: () => socket.send(HELLO, PROXY_PORTS.udp, target.pod),
      close: () => {},
      on: (opened, received) => {
        socket.on("message", received);
        socket.on("error", () => {});
        opened();
      },
    });
    return {
      ...flow,
      lastTrafficMs: () => flow.receivedMs() + UDP_IDLE_MS,
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
  readonly on: (opened: () => void, received: () => void, closed: () => void) => void;
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
  let sent = 0;
  let open = true;
  let closing = false;
  const received = () => {
    counts.answered += 1;
    receivedMs = clock.nowMs();
    lastTrafficMs = receivedMs;
  };
  const close = async () => {
    if (!open || closing) return;
    closing = true;
    clearInterval(timer);
    const limitMs = clock.nowMs() + ANSWER_LIMIT_MS;
    while (counts.answered < sent && clock.nowMs() < limitMs) await clock.wait(20);
    if (counts.answered < sent) counts.failures.push(`${sent - counts.answered} of ${sent} messages unanswered`);
    open = false;
    lastTrafficMs = clock.nowMs();
    session.close();
  };
  const send = () => {
    sent += 1;
    session.send();
  };
  const timer = setInterval(() => counts.answered > 0 && send(), PACE_MS);
  await new Promise<void>((ready) => {
    const closed = () => {
      if (!open) return;
      open = false;
      clearInterval(timer);
      counts.failures.push("the session was cut");
      ready();
    };
    session.on(
      () => send(),
      () => {
        received();
        ready();
      },
      closed,
    );
  });
  if (Number.isFinite(closesAfterMs)) void clock.wait(closesAfterMs).then(close);
  return { counts, lastTrafficMs: () => lastTrafficMs, receivedMs: () => receivedMs, withdraw: () => {}, stop: close };
}
