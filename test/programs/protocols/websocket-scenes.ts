/** WebSocket sessions: Node's own client before a small server. The app counts every open session as work. */
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { endings, OFTEN_MS, type Place, type Play, pause, type Scene } from "./scene.ts";
import { createStage } from "./stage.ts";
import { createWebSocketServer, type WebSocketServer } from "./websocket-server.ts";

const PROTOCOL = "WebSocket";

type Talk = (server: WebSocketServer, session: Duplex) => void;

export const WEBSOCKET_SCENES: readonly Scene[] = [
  {
    protocol: PROTOCOL,
    client: "waits for messages; the server spoke last",
    play: (place) => session({ ...place, opened: (server, one) => server.say(one, "hello") }),
    endings: endings("cut", "deadline", "deadline", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "waits for messages; it spoke last, without being asked",
    play: (place) => session({ ...place, opened: () => {}, says: "notice" }),
    endings: endings("deadline", "deadline", "deadline", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "waits for messages; it spoke last, by answering a ping of the server",
    play: (place) => session({ ...place, opened: (server, one) => server.ping(one) }),
    endings: endings("unsure", "deadline", "deadline", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "talks with the server all the time",
    play: (place) => session({ ...place, opened: (server, one) => server.say(one, "1"), talksMs: OFTEN_MS }),
    endings: endings("deadline", "deadline", "deadline", "quiet"),
  },
];

type Session = Place & {
  readonly opened: Talk;
  /** The client sends a message so often, and each is answered. */
  readonly talksMs?: number;
  /** The client says this once, and is not answered. */
  readonly says?: string;
};

async function session({ address, port, opened, talksMs, says }: Session): Promise<Play> {
  const stage = createStage();
  const server = createWebSocketServer({
    opened: (one) => {
      one.on("close", stage.begin());
      opened(server, one);
    },
    heard: (one) => {
      stage.note();
      if (talksMs !== undefined) server.say(one, "answer");
    },
  });
  await stage.open(server.server, address, port);
  const client = new WebSocket(`ws://${address}:${port}/`);
  await once(client, "open");
  if (talksMs !== undefined) {
    stage.every(talksMs, () => {
      if (client.readyState === WebSocket.OPEN) client.send("question");
    });
  }
  await pause(OFTEN_MS);
  if (says !== undefined) client.send(says);
  return stage.play({ sendAway: server.leave, endClient: () => client.close() });
}
