/** Defines the scenarios of WebSockets with Node's client. The app counts each open session as an active request. */
import { once } from "node:events";
import type { Duplex } from "node:stream";
import {
  endings,
  pause,
  type RunningScenario,
  type Scenario,
  type ServerAddress,
  SHORT_INTERVAL_MS,
} from "./protocol-scenario.ts";
import { createServerActivity } from "./server-activity.ts";
import { createWebSocketServer, type WebSocketServer } from "./websocket-server.ts";

const PROTOCOL = "WebSocket";

type OnOpen = (server: WebSocketServer, session: Duplex) => void;

export const WEBSOCKET_SCENARIOS: readonly Scenario[] = [
  {
    protocol: PROTOCOL,
    behaviour: "waits for messages; the server sent last",
    start: (serverAddress) =>
      startSession({ ...serverAddress, onOpen: (server, session) => server.send(session, "hello") }),
    endings: endings("cut", "deadline", "deadline", "quiet"),
  },
  {
    protocol: PROTOCOL,
    behaviour: "waits for messages; the client sent last, a message without a response",
    start: (serverAddress) => startSession({ ...serverAddress, onOpen: () => {}, lastMessage: "message" }),
    endings: endings("deadline", "deadline", "deadline", "quiet"),
  },
  {
    protocol: PROTOCOL,
    behaviour: "waits for messages; the client sent last, a pong to the server's ping",
    start: (serverAddress) => startSession({ ...serverAddress, onOpen: (server, session) => server.ping(session) }),
    endings: endings("unsure", "deadline", "deadline", "quiet"),
  },
  {
    protocol: PROTOCOL,
    behaviour: "exchanges messages with the server continuously",
    start: (serverAddress) =>
      startSession({
        ...serverAddress,
        onOpen: (server, session) => server.send(session, "1"),
        sendIntervalMs: SHORT_INTERVAL_MS,
      }),
    endings: endings("deadline", "deadline", "deadline", "quiet"),
  },
];

type SessionOptions = ServerAddress & {
  readonly onOpen: OnOpen;
  readonly sendIntervalMs?: number;
  readonly lastMessage?: string;
};

async function startSession({
  address,
  port,
  onOpen,
  sendIntervalMs,
  lastMessage,
}: SessionOptions): Promise<RunningScenario> {
  const activity = createServerActivity();
  const server = createWebSocketServer({
    onOpen: (session) => {
      session.on("close", activity.beginRequest());
      onOpen(server, session);
    },
    onFrame: (session) => {
      activity.recordTraffic();
      if (sendIntervalMs !== undefined) server.send(session, "answer");
    },
  });
  await activity.listen(server.server, address, port);
  const client = new WebSocket(`ws://${address}:${port}/`);
  await once(client, "open");
  if (sendIntervalMs !== undefined) {
    activity.repeatEvery(sendIntervalMs, () => {
      if (client.readyState === WebSocket.OPEN) client.send("request");
    });
  }
  await pause(SHORT_INTERVAL_MS);
  if (lastMessage !== undefined) client.send(lastMessage);
  return activity.toRunningScenario({ startDrain: server.closeAll, closeClient: () => client.close() });
}
