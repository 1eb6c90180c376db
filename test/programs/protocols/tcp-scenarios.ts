/** Scenarios of raw TCP protocols, and of clients that have closed their half of the connection. */
import { connect, createServer, type Socket } from "node:net";
import {
  endings,
  LONG_INTERVAL_MS,
  LONG_REQUEST_MS,
  pause,
  type RunningScenario,
  type Scenario,
  type ServerAddress,
  SHORT_INTERVAL_MS,
} from "./protocol-scenario.ts";
import { createServerActivity, type ServerActivity } from "./server-activity.ts";

const PROTOCOL = "raw TCP";
const HALF_CLOSED = "half-closed client";

export const TCP_SCENARIOS: readonly Scenario[] = [
  {
    protocol: HALF_CLOSED,
    client: "has sent its request and FIN, and waits for the response",
    start: startHalfClosedClient,
    endings: endings("quiet", "closed", "quiet", "quiet"),
  },
  {
    protocol: HALF_CLOSED,
    client: "has its response and has sent FIN; the server never closes",
    start: (serverAddress) => startSession({ ...serverAddress, answer: "at once", first: "request", ends: true }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "has its response, and keeps the connection",
    start: (serverAddress) => startSession({ ...serverAddress, answer: "at once", first: "request" }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "has sent data to which the server never responds",
    start: (serverAddress) => startSession({ ...serverAddress, answer: "never", first: "message" }),
    endings: endings("deadline", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "sends a stream without responses",
    start: (serverAddress) =>
      startSession({ ...serverAddress, answer: "never", first: "start", sendsMs: SHORT_INTERVAL_MS }),
    endings: endings("deadline", "deadline", "deadline", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "has subscribed to messages, which the server sends more than a quiet period apart",
    start: (server) => startSession({ ...server, answer: "at once", first: "subscribe", pushesMs: LONG_INTERVAL_MS }),
    endings: endings("cut", "deadline", "deadline", "quiet"),
  },
];

type SessionOptions = ServerAddress & {
  readonly answer: "at once" | "never";
  readonly first: string;
  readonly ends?: boolean;
  /** Interval at which the client sends. With `sendsMs` or `pushesMs` the app counts the session as an active request. */
  readonly sendsMs?: number;
  readonly pushesMs?: number;
};

/** When a drain starts, the app closes its connections, because its protocol has no close message. */
async function startSession(options: SessionOptions): Promise<RunningScenario> {
  const activity = createServerActivity();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    if (options.pushesMs !== undefined || options.sendsMs !== undefined) socket.on("close", activity.beginRequest());
    socket.on("data", () => {
      activity.recordTraffic();
      if (options.answer === "at once") socket.write("answer");
    });
  });
  await activity.listen(server, options.address, options.port);
  const client = connectClient(options.address, options.port);
  client.on("data", () => {
    if (options.ends === true) client.end();
  });
  client.write(options.first);
  if (options.sendsMs !== undefined) activity.every(options.sendsMs, () => client.writable && client.write("more"));
  if (options.pushesMs !== undefined) {
    activity.every(options.pushesMs, () => {
      for (const socket of activity.sockets()) socket.write("message", activity.recordTraffic);
    });
  }
  await pause(SHORT_INTERVAL_MS);
  return activity.running({ startDrain: () => closeAll(activity), closeClient: () => client.destroy() });
}

async function startHalfClosedClient({ address, port }: ServerAddress): Promise<RunningScenario> {
  const activity = createServerActivity();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.once("data", () => {
      const done = activity.beginRequest();
      setTimeout(() => socket.end("answer", done), LONG_REQUEST_MS);
    });
  });
  await activity.listen(server, address, port);
  const client = connectClient(address, port);
  client.end("request");
  await pause(SHORT_INTERVAL_MS);
  return activity.running({ closeClient: () => client.destroy() });
}

function connectClient(address: string, port: number): Socket {
  const client = connect({ host: address, port, allowHalfOpen: true });
  // Closes the client's half only after the server has closed its half.
  client.on("end", () => client.end());
  client.on("error", () => client.destroy());
  return client;
}

function closeAll(activity: ServerActivity): void {
  for (const socket of activity.sockets()) socket.end();
}
