/** HTTP/2 without TLS: Node's own server and client. Many requests share one connection, and both sides speak unasked. */
import { connect, createServer, type ServerHttp2Session } from "node:http2";
import { endings, LONG_MS, OFTEN_MS, type Place, type Play, pause, type Scene } from "./scene.ts";
import { createStage } from "./stage.ts";

const PROTOCOL = "HTTP/2";

export const HTTP2_SCENES: readonly Scene[] = [
  {
    protocol: PROTOCOL,
    client: "waits for the answer to its first request since it connected",
    play: (place) => requests({ ...place, answersMs: [LONG_MS] }),
    endings: endings("unsure", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "waits for the answer to a later request, and keeps the connection",
    play: (place) => requests({ ...place, answersMs: [0], laterMs: LONG_MS }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "waits for one answer, and has got a later one on the same connection",
    play: (place) => requests({ ...place, answersMs: [2 * LONG_MS, OFTEN_MS / 2] }),
    endings: endings("cut", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "has its answer, and never closes",
    play: (place) => requests({ ...place, answersMs: [0] }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "has read a large answer, and spoke last: a WINDOW_UPDATE",
    play: (place) => requests({ ...place, answersMs: [0], answerBytes: LARGE_BYTES }),
    endings: endings("deadline", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "has its answer, and spoke last: it answered a PING of the server",
    play: (place) => requests({ ...place, answersMs: [0], pings: true }),
    endings: endings("unsure", "deadline", "quiet", "quiet"),
  },
];

/** More than half the window a client starts with: reading it makes the client open the window again. */
const LARGE_BYTES = 48_000;

type Requests = Place & {
  /** One request each, all at once. */
  readonly answersMs: readonly number[];
  readonly answerBytes?: number;
  /** One more request, when those are answered. */
  readonly laterMs?: number;
  /** The server does, when all is answered. */
  readonly pings?: boolean;
};

/** Told to drain, the app sends GOAWAY, and each connection closes after its last answer. */
async function requests(of: Requests): Promise<Play> {
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
      stream.end("x".repeat(of.answerBytes ?? 4));
    };
    setTimeout(answer, Number(String(headers[":path"]).slice(1)));
  });
  await stage.open(server, of.address, of.port);
  const client = connect(`http://${of.address}:${of.port}`);
  client.on("error", () => {});
  const ask = (ms: number) => {
    const sent = client.request({ ":path": `/${ms}` });
    sent.on("error", () => {});
    sent.end();
    // Read when it has been sent whole, so that what the client says of it comes last.
    setTimeout(() => sent.resume(), OFTEN_MS);
  };
  for (const ms of of.answersMs) ask(ms);
  await pause(3 * OFTEN_MS);
  if (of.laterMs !== undefined) ask(of.laterMs);
  if (of.pings === true) for (const session of sessions) session.ping(stage.note);
  await pause(OFTEN_MS);
  const sendAway = () => {
    for (const session of sessions) session.close();
  };
  return stage.play({ sendAway, endClient: () => client.destroy() });
}
