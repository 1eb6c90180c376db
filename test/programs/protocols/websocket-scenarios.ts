/** WebSocket sessions between Node's client and a small server. The app counts each open session as work. */
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { endings, OFTEN_MS, type Place, pause, type RunningScenario, type Scenario } from "./protocol-scenario.ts";
import { createServerActivity } from "./server-activity.ts";
import { createWebSocketServer, type WebSocketServer } from "./websocket-server.ts";

const PROTOCOL = "WebSocket";

type OnOpen = (server: WebSocketServer, session: Duplex) => void;

export const WEBSOCKET_SCENARIOS: readonly Scenario[] = [
  {
    protocol: PROTOCOL,
    client: "waits for messages; the server sent last",
    start: (place) => startSession({ ...place, opened: (server, one) => server.send(one, "hello") }),
    endings: endings("cut", "deadline", "deadline", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "waits for messages; the client sent last, without a request",
    start: (place) => startSession({ ...place, opened: () => {}, sends: "message" }),
    endings: endings("deadline", "deadline", "deadline", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "waits for messages; the client sent last, a pong to the server's ping",
    start: (place) => startSession({ ...place, opened: (server, one) => server.ping(one) }),
    endings: endings("unsure", "deadline", "deadline", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "exchanges messages with the server continuously",
    start: (place) => startSession({ ...place, opened: (server, one) => server.send(one, "1"), sendsMs: OFTEN_MS }),
    endings: endings("deadline", "deadline", "deadline", "quiet"),
  },
];

type Session = Place & {
  readonly opened: OnOpen;
  readonly sendsMs?: number;
  readonly sends?: string;
};

async function startSession({ address, port, opened, sendsMs, sends }: Session): Promise<RunningScenario> {
  const activity = createServerActivity();
  const server = createWebSocketServer({
    opened: (one) => {
      one.on("close", activity.startWork());
      opened(server, one);
    },
    received: (one) => {
      activity.recordTraffic();
      if (sendsMs !== undefined) server.send(one, "answer");
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
  await pause(OFTEN_MS);
  if (sends !== undefined) client.send(sends);
  return activity.running({ startDrain: server.closeAll, closeClient: () => client.close() });
}
