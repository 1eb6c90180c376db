/** One WebSocket, TCP session or flow of datagrams that talks all the time, and leaves after a while or never. */
import { createSocket } from "node:dgram";
import { connect } from "node:net";
import { UDP_IDLE_MS } from "./envoy-config.ts";
import type { Clients, Place, Tally } from "./scene.ts";
import { PROXY } from "./upstream-ports.ts";

const HELLO = "hello";
const PACE_MS = 200;
const ANSWER_LIMIT_MS = 2_000;

export function webSocket(leavesAfterMs: number): (place: Place) => Promise<Clients> {
  return (place) => {
    const socket = new WebSocket(`ws://${place.pod}:${PROXY.web}/`);
    return talk(place, leavesAfterMs, {
      say: () => socket.send(HELLO),
      leave: () => socket.close(),
      on: (opened, heard, closed) => {
        socket.addEventListener("open", opened);
        socket.addEventListener("message", heard);
        socket.addEventListener("close", closed);
        socket.addEventListener("error", () => {});
      },
    });
  };
}

export function tcpSession(leavesAfterMs: number): (place: Place) => Promise<Clients> {
  return (place) => {
    const socket = connect({ host: place.pod, port: PROXY.tcp, localAddress: place.from });
    return talk(place, leavesAfterMs, {
      say: () => socket.write(HELLO),
      leave: () => socket.end(),
      on: (opened, heard, closed) => {
        let bytes = 0;
        socket.once("connect", opened).once("close", closed);
        socket.on("data", (chunk: Buffer) => {
          // Two answers may come together.
          for (bytes += chunk.length; bytes >= HELLO.length; bytes -= HELLO.length) heard();
        });
        socket.on("error", () => socket.destroy());
      },
    });
  };
}

/** No one hangs up a flow of datagrams: it is over when the proxy has seen none for a while. */
export function udpFlow(leavesAfterMs: number): (place: Place) => Promise<Clients> {
  return async (place) => {
    const socket = createSocket("udp4");
    await new Promise<void>((done) => socket.bind(0, place.from, done));
    const flow = await talk(place, leavesAfterMs, {
      say: () => socket.send(HELLO, PROXY.udp, place.pod),
      leave: () => {},
      on: (opened, heard) => {
        socket.on("message", heard);
        socket.on("error", () => {});
        opened();
      },
    });
    return {
      ...flow,
      lastMs: () => flow.heardMs() + UDP_IDLE_MS,
      stop: async () => {
        await flow.stop();
        socket.close();
      },
    };
  };
}

type Session = {
  readonly say: () => void;
  readonly leave: () => void;
  readonly on: (opened: () => void, heard: () => void, closed: () => void) => void;
};

type Talk = Clients & { readonly heardMs: () => number };

async function talk({ clock }: Place, leavesAfterMs: number, session: Session): Promise<Talk> {
  const tally: Tally = { answered: 0, failures: [] };
  let lastMs = clock.nowMs();
  let heardMs = lastMs;
  let asked = 0;
  let open = true;
  let leaving = false;
  const heard = () => {
    tally.answered += 1;
    heardMs = clock.nowMs();
    lastMs = heardMs;
  };
  /** Says nothing more, hears what is still to come, and then goes. */
  const leave = async () => {
    if (!open || leaving) return;
    leaving = true;
    clearInterval(timer);
    const limitMs = clock.nowMs() + ANSWER_LIMIT_MS;
    while (tally.answered < asked && clock.nowMs() < limitMs) await clock.wait(20);
    if (tally.answered < asked) tally.failures.push(`${asked - tally.answered} of ${asked} unanswered`);
    open = false;
    lastMs = clock.nowMs();
    session.leave();
  };
  const say = () => {
    asked += 1;
    session.say();
  };
  const timer = setInterval(() => tally.answered > 0 && say(), PACE_MS);
  await new Promise<void>((ready) => {
    const closed = () => {
      if (!open) return;
      open = false;
      clearInterval(timer);
      tally.failures.push("the session was cut");
      ready();
    };
    session.on(
      () => say(),
      () => {
        heard();
        ready();
      },
      closed,
    );
  });
  if (Number.isFinite(leavesAfterMs)) void clock.wait(leavesAfterMs).then(leave);
  return { tally, lastMs: () => lastMs, heardMs: () => heardMs, withdraw: () => {}, stop: leave };
}
