/** Defines the scenarios of raw TCP protocols, and of clients that have closed their half of the connection. */
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
    behaviour: "has sent its request and FIN, and waits for the response",
    start: startHalfClosedClient,
    endings: endings("quiet", "closed", "quiet", "quiet"),
  },
  {
    protocol: HALF_CLOSED,
    behaviour: "has its response and has sent FIN; the server never closes",
    start: (serverAddress) =>
      startSession({ ...serverAddress, responds: "at once", firstMessage: "request", endsAfterResponse: true }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    behaviour: "has its response, and keeps the connection",
    start: (serverAddress) => startSession({ ...serverAddress, responds: "at once", firstMessage: "request" }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    behaviour: "has sent data to which the server never responds",
    start: (serverAddress) => startSession({ ...serverAddress, responds: "never", firstMessage: "message" }),
    endings: endings("deadline", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    behaviour: "sends a stream without responses",
    start: (serverAddress) =>
      startSession({ ...serverAddress, responds: "never", firstMessage: "start", sendIntervalMs: SHORT_INTERVAL_MS }),
    endings: endings("deadline", "deadline", "deadline", "quiet"),
  },
  {
    protocol: PROTOCOL,
    behaviour: "has subscribed to messages, which the server sends more than a quiet period apart",
    start: (server) =>
      startSession({ ...server, responds: "at once", firstMessage: "subscribe", pushIntervalMs: LONG_INTERVAL_MS }),
    endings: endings("cut", "deadline", "deadline", "quiet"),
  },
];

type SessionOptions = ServerAddress & {
  readonly responds: "at once" | "never";
  readonly firstMessage: string;
  readonly endsAfterResponse?: boolean;
  /** Interval at which the client sends. With `sendIntervalMs` or `pushIntervalMs` the app counts the session as an active request. */
  readonly sendIntervalMs?: number;
  readonly pushIntervalMs?: number;
};

/** When a drain starts, the app closes its connections, because raw TCP does not have a close message. */
async function startSession(options: SessionOptions): Promise<RunningScenario> {
  const activity = createServerActivity();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    if (options.pushIntervalMs !== undefined || options.sendIntervalMs !== undefined)
      socket.on("close", activity.beginRequest());
    socket.on("data", () => {
      activity.recordTraffic();
      if (options.responds === "at once") socket.write("answer");
    });
  });
  await activity.listen(server, options.address, options.port);
  const client = connectClient(options.address, options.port);
  client.on("data", () => {
    if (options.endsAfterResponse === true) client.end();
  });
  client.write(options.firstMessage);
  if (options.sendIntervalMs !== undefined)
    activity.repeatEvery(options.sendIntervalMs, () => client.writable && client.write("more"));
  if (options.pushIntervalMs !== undefined) {
    activity.repeatEvery(options.pushIntervalMs, () => {
      for (const socket of activity.sockets()) socket.write("message", activity.recordTraffic);
    });
  }
  await pause(SHORT_INTERVAL_MS);
  return activity.toRunningScenario({ startDrain: () => closeAll(activity), closeClient: () => client.destroy() });
}

async function startHalfClosedClient({ address, port }: ServerAddress): Promise<RunningScenario> {
  const activity = createServerActivity();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.once("data", () => {
      const endRequest = activity.beginRequest();
      setTimeout(() => socket.end("answer", endRequest), LONG_REQUEST_MS);
    });
  });
  await activity.listen(server, address, port);
  const client = connectClient(address, port);
  client.end("request");
  await pause(SHORT_INTERVAL_MS);
  return activity.toRunningScenario({ closeClient: () => client.destroy() });
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
