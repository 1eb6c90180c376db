/** Server-sent events: one answer that never ends. */
import { createServer, get, type ServerResponse } from "node:http";
import { endings, OFTEN_MS, type Place, type Play, pause, type Scene, SELDOM_MS } from "./scene.ts";
import { createStage } from "./stage.ts";

const PROTOCOL = "server-sent events";

export const EVENT_STREAM_SCENES: readonly Scene[] = [
  {
    protocol: PROTOCOL,
    client: "listens to events less than a quiet period apart",
    play: (place) => listener(place, OFTEN_MS),
    endings: endings("deadline", "deadline", "deadline", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "listens to events more than a quiet period apart",
    play: (place) => listener(place, SELDOM_MS),
    endings: endings("cut", "deadline", "deadline", "quiet"),
  },
];

/** Told to drain, the app ends its streams: such clients connect again by themselves, and reach another Pod. */
async function listener({ address, port }: Place, everyMs: number): Promise<Play> {
  const stage = createStage();
  const streams = new Set<ServerResponse>();
  const server = createServer((_, res) => {
    const done = stage.begin();
    streams.add(res);
    res.on("close", () => {
      streams.delete(res);
      done();
    });
    res.writeHead(200, { "Content-Type": "text/event-stream" });
    res.write("data: first\n\n");
  });
  await stage.open(server, address, port);
  stage.every(everyMs, () => {
    for (const stream of streams) stream.write("data: next\n\n", stage.note);
  });
  const client = get({ host: address, port, agent: false }, (res) => res.on("error", () => {}).resume());
  client.on("error", () => {});
  await pause(OFTEN_MS);
  const sendAway = () => {
    for (const stream of streams) stream.end();
  };
  return stage.play({ sendAway, endClient: () => client.destroy() });
}
