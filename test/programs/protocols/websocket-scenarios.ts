/** Scenarios of WebSockets between Node's client and a small server. The app counts each open session as an active request. */
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
    client: "waits for messages; the server sent last",
    start: (serverAddress) =>
      startSession({ ...serverAddress, opened: (server, session) => server.send(session, "hello") }),
    endings: endings("cut", "deadline", "deadline", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "waits for messages; the client sent last, a message without a response",
    start: (serverAddress) => startSession({ ...serverAddress, opened: () => {}, sends: "message" }),
    endings: endings("deadline", "deadline", "deadline", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "waits for messages; the client sent last, a pong to the server's ping",
    start: (serverAddress) => startSession({ ...serverAddress, opened: (server, session) => server.ping(session) }),
    endings: endings("unsure", "deadline", "deadline", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "exchanges messages with the server continuously",
    start: (serverAddress) =>
      startSession({
        ...serverAddress,
        opened: (server, session) => server.send(session, "1"),
        sendsMs: SHORT_INTERVAL_MS,
      }),
    endings: endings("deadline", "deadline", "deadline", "quiet"),
  },
];

type SessionOptions = ServerAddress & {
  readonly opened: OnOpen;
  readonly sendsMs?: number;
  readonly sends?: string;
};

async function startSession({ address, port, opened, sendsMs, sends }: SessionOptions): Promise<RunningScenario> {
  const activity = createServerActivity();
  const server = createWebSocketServer({
    opened: (session) => {
      session.on("close", activity.beginRequest());
      opened(server, session);
    },
    received: (session) => {
      activity.recordTraffic();
      if (sendsMs !== undefined) server.send(session, "answer");
    },
  });
  await activity.listen(server.server, address, port);
  const client = new WebSocket(`ws://${address}:${port}/`);
  await once(client, "open");
  if (sendsMs !== undefined) {
    activity.every(sendsMs, () => {
      if (client.readyState === WebSocket.OPEN) client.send("request");
    });
  }
  await pause(SHORT_INTERVAL_MS);
  if (sends !== undefined) client.send(sends);
  return activity.running({ startDrain: server.closeAll, closeClient: () => client.close() });
}
