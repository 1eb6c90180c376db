/** HTTP/2 without TLS: Node's own server and client. Many requests share one connection, and both sides speak unasked. */
import { connect, createServer, type ServerHttp2Session } from "node:http2";
import { endings, LONG_MS, OFTEN_MS, type Play, pause, type Scene } from "./scene.ts";
import { createStage } from "./stage.ts";

const PROTOCOL = "HTTP/2";

export const HTTP2_SCENES: readonly Scene[] = [
  {
    protocol: PROTOCOL,
    client: "waits for an answer, and keeps the connection",
    play: (address, port) => requests({ address, port, answersMs: [LONG_MS] }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "has its answer, and never closes",
    play: (address, port) => requests({ address, port, answersMs: [0] }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "has its answer, and spoke last: a WINDOW_UPDATE",
    play: (address, port) => requests({ address, port, answersMs: [0], afterwards: "window" }),
    endings: endings("deadline", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "has its answer, and spoke last: it answered the server's PING",
    play: (address, port) => requests({ address, port, answersMs: [0], afterwards: "ping" }),
    endings: endings("deadline", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "waits for one answer, and has got a later one on the same connection",
    play: (address, port) => requests({ address, port, answersMs: [2 * LONG_MS, OFTEN_MS / 2] }),
    endings: endings("cut", "deadline", "quiet", "quiet"),
  },
];

type Requests = {
  readonly address: string;
  readonly port: number;
  /** One request each, all at once. */
  readonly answersMs: readonly number[];
  readonly afterwards?: "window" | "ping";
};

/** Told to drain, the app sends GOAWAY, and each connection closes after its last answer. */
async function requests({ address, port, answersMs, afterwards }: Requests): Promise<Play> {
  const stage = createStage();
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    session.on("error", () => {});
  });
  server.on("stream", (stream, headers) => {
    const done = stage.begin();
    stream.on("close", done);
    stream.on("error", () => {});
    const answer = () => {
      if (!stream.destroyed) stream.respond({ ":status": 200 });
      stream.end("done");
    };
    setTimeout(answer, Number(String(headers[":path"]).slice(1)));
  });
  await stage.open(server, address, port);
  const client = connect(`http://${address}:${port}`);
  client.on("error", () => {});
  for (const ms of answersMs) {
    const sent = client.request({ ":path": `/${ms}` });
    sent.on("error", () => {});
    sent.resume().end();
  }
  await pause(2 * OFTEN_MS);
  if (afterwards === "window") client.setLocalWindowSize(1_000_000);
  if (afterwards === "ping") for (const session of sessions) session.ping(() => stage.note());
  await pause(OFTEN_MS);
  const sendAway = () => {
    for (const session of sessions) session.close();
  };
  return stage.play({ sendAway, endClient: () => client.destroy() });
}
