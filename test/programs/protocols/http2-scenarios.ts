/** HTTP/2 without TLS, with Node's server and client. Both sides also send frames without a request. */
import { connect, createServer, type ServerHttp2Session } from "node:http2";
import {
  endings,
  LONG_MS,
  OFTEN_MS,
  type Place,
  pause,
  type RunningScenario,
  type Scenario,
} from "./protocol-scenario.ts";
import { createServerActivity } from "./server-activity.ts";

const PROTOCOL = "HTTP/2";

export const HTTP2_SCENARIOS: readonly Scenario[] = [
  {
    protocol: PROTOCOL,
    client: "waits for the response to its first request on the connection",
    start: (place) => startRequests({ ...place, answersMs: [LONG_MS] }),
    endings: endings("unsure", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "waits for the response to a later request, and keeps the connection",
    start: (place) => startRequests({ ...place, answersMs: [0], laterMs: LONG_MS }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "waits for one response, and has received a later one on the same connection",
    start: (place) => startRequests({ ...place, answersMs: [2 * LONG_MS, OFTEN_MS / 2] }),
    endings: endings("cut", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "has its response, and never closes",
    start: (place) => startRequests({ ...place, answersMs: [0] }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "has read a large response, and sent last: a WINDOW_UPDATE",
    start: (place) => startRequests({ ...place, answersMs: [0], answerBytes: LARGE_BYTES }),
    endings: endings("deadline", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    client: "has its response, and sent last: the ACK of the server's PING",
    start: (place) => startRequests({ ...place, answersMs: [0], pings: true }),
    endings: endings("unsure", "deadline", "quiet", "quiet"),
  },
];

/** More than half of a client's initial window, so that reading it makes the client send WINDOW_UPDATE. */
const LARGE_BYTES = 48_000;

type Requests = Place & {
  readonly answersMs: readonly number[];
  readonly answerBytes?: number;
  readonly laterMs?: number;
  /** The server sends a PING after all answers. */
  readonly pings?: boolean;
};

/** On a drain the app sends GOAWAY, and each connection closes after its last answer. */
async function startRequests(of: Requests): Promise<RunningScenario> {
  const activity = createServerActivity();
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    session.on("error", () => {});
  });
  server.on("stream", (stream, headers) => {
    const done = activity.startWork();
    stream.on("close", done);
    stream.on("error", () => {});
    const answer = () => {
      if (!stream.destroyed) stream.respond({ ":status": 200 });
      stream.end("x".repeat(of.answerBytes ?? 4));
    };
    setTimeout(answer, Number(String(headers[":path"]).slice(1)));
  });
  await activity.listen(server, of.address, of.port);
  const client = connect(`http://${of.address}:${of.port}`);
  client.on("error", () => {});
  const send = (ms: number) => {
    const sent = client.request({ ":path": `/${ms}` });
    sent.on("error", () => {});
    sent.end();
    // Read after the whole answer has arrived, so that the client's WINDOW_UPDATE is the last frame.
    setTimeout(() => sent.resume(), OFTEN_MS);
  };
  for (const ms of of.answersMs) send(ms);
  await pause(3 * OFTEN_MS);
  if (of.laterMs !== undefined) send(of.laterMs);
  if (of.pings === true) for (const session of sessions) session.ping(activity.recordTraffic);
  await pause(OFTEN_MS);
  const startDrain = () => {
    for (const session of sessions) session.close();
  };
  return activity.running({ startDrain, closeClient: () => client.destroy() });
}
