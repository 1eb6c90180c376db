/** Raw TCP protocols, and clients that have closed their half of the connection. */
import { connect, createServer, type Socket } from "node:net";
import {
  endings,
  LONG_MS,
  OFTEN_MS,
  type Place,
  pause,
  type RunningScenario,
  type Scenario,
  SELDOM_MS,
} from "./protocol-scenario.ts";
import { createServerActivity, type ServerActivity } from "./server-activity.ts";

const PROTOCOL = "raw TCP";
const HALF_CLOSED = "half-closed client";

export const TCP_SCENARIOS: readonly Scenario[] = [
  {
    protocol: HALF_CLOSED,
    client: "has sent its request and FIN, and waits for the response",
    start: halfClosed,
    endings: endings("quiet", "closed", "quiet", "quiet"),
  },
  {
    protocol: HALF_CLOSED,
    client: "has its response and has sent FIN; the server never closes",
    start: (place) => startSession({ ...place, answer: "at once", first: "request", ends: true }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "has its response, and keeps the connection",
    start: (place) => startSession({ ...place, answer: "at once", first: "request" }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "has sent data that is never answered",
    start: (place) => startSession({ ...place, answer: "never", first: "message" }),
    endings: endings("deadline", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "sends a stream without responses",
    start: (place) => startSession({ ...place, answer: "never", first: "start", sendsMs: OFTEN_MS }),
    endings: endings("deadline", "deadline", "deadline", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "has subscribed; the server sends more than a quiet period apart",
    start: (place) => startSession({ ...place, answer: "at once", first: "subscribe", pushesMs: SELDOM_MS }),
    endings: endings("cut", "deadline", "deadline", "quiet"),
  },
];

type Session = Place & {
  readonly answer: "at once" | "never";
  readonly first: string;
  readonly ends?: boolean;
  /** Interval at which the client sends. With this or `pushesMs` the app counts the session as work. */
  readonly sendsMs?: number;
  readonly pushesMs?: number;
};

/** On a drain the app closes its connections, as its protocol has no close message. */
async function startSession(of: Session): Promise<RunningScenario> {
  const activity = createServerActivity();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    if (of.pushesMs !== undefined || of.sendsMs !== undefined) socket.on("close", activity.startWork());
    socket.on("data", () => {
      activity.recordTraffic();
      if (of.answer === "at once") socket.write("answer");
    });
  });
  await activity.listen(server, of.address, of.port);
  const client = clientOf(of.address, of.port);
  client.on("data", () => {
    if (of.ends === true) client.end();
  });
  client.write(of.first);
  if (of.sendsMs !== undefined) activity.every(of.sendsMs, () => client.writable && client.write("more"));
  if (of.pushesMs !== undefined) {
    activity.every(of.pushesMs, () => {
      for (const socket of activity.sockets()) socket.write("message", activity.recordTraffic);
    });
  }
  await pause(OFTEN_MS);
  return activity.running({ startDrain: () => closeAll(activity), closeClient: () => client.destroy() });
}

async function halfClosed({ address, port }: Place): Promise<RunningScenario> {
  const activity = createServerActivity();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.once("data", () => {
      const done = activity.startWork();
      setTimeout(() => socket.end("answer", done), LONG_MS);
    });
  });
  await activity.listen(server, address, port);
  const client = clientOf(address, port);
  client.end("request");
  await pause(OFTEN_MS);
  return activity.running({ closeClient: () => client.destroy() });
}

function clientOf(address: string, port: number): Socket {
  const client = connect({ host: address, port, allowHalfOpen: true });
  // Closes its half only after the server's.
  client.on("end", () => client.end());
  client.on("error", () => client.destroy());
  return client;
}

function closeAll(activity: ServerActivity): void {
  for (const socket of activity.sockets()) socket.end();
}
