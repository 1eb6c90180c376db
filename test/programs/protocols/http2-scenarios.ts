/** Defines the scenarios of HTTP/2 without TLS, with Node's server and client, which also send frames outside of requests. */
import { connect, createServer, type ServerHttp2Session } from "node:http2";
import {
  endings,
  LONG_REQUEST_MS,
  pause,
  type RunningScenario,
  type Scenario,
  type ServerAddress,
  SHORT_INTERVAL_MS,
} from "./protocol-scenario.ts";
import { createServerActivity } from "./server-activity.ts";

const PROTOCOL = "HTTP/2";

export const HTTP2_SCENARIOS: readonly Scenario[] = [
  {
    protocol: PROTOCOL,
    behaviour: "waits for the response to its first request on the connection",
    start: (serverAddress) => startRequests({ ...serverAddress, responseDelaysMs: [LONG_REQUEST_MS] }),
    endings: endings("unsure", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    behaviour: "waits for the response to a later request, and keeps the connection",
    start: (serverAddress) =>
      startRequests({ ...serverAddress, responseDelaysMs: [0], laterResponseDelayMs: LONG_REQUEST_MS }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    behaviour: "waits for one response, and has received a later response on the same connection",
    start: (serverAddress) =>
      startRequests({ ...serverAddress, responseDelaysMs: [2 * LONG_REQUEST_MS, SHORT_INTERVAL_MS / 2] }),
    endings: endings("cut", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    behaviour: "has its response, and never closes",
    start: (serverAddress) => startRequests({ ...serverAddress, responseDelaysMs: [0] }),
    endings: endings("quiet", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    behaviour: "has read a large response, and sent last: a WINDOW_UPDATE",
    start: (serverAddress) => startRequests({ ...serverAddress, responseDelaysMs: [0], responseBytes: LARGE_BYTES }),
    endings: endings("deadline", "deadline", "quiet", "quiet"),
  },
  {
    protocol: PROTOCOL,
    behaviour: "has its response, and sent last: the ACK of the server's PING",
    start: (serverAddress) => startRequests({ ...serverAddress, responseDelaysMs: [0], sendsPing: true }),
    endings: endings("unsure", "deadline", "quiet", "quiet"),
  },
];

/** More than half of the client's initial window: after such a response the client sends WINDOW_UPDATE. */
const LARGE_BYTES = 48_000;

type RequestOptions = ServerAddress & {
  readonly responseDelaysMs: readonly number[];
  readonly responseBytes?: number;
  readonly laterResponseDelayMs?: number;
  /** The server sends a PING after all responses. */
  readonly sendsPing?: boolean;
};

/** When a drain starts, the app sends GOAWAY, and each connection closes after its last response. */
async function startRequests(options: RequestOptions): Promise<RunningScenario> {
  const activity = createServerActivity();
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    session.on("error", () => {});
  });
  server.on("stream", (stream, headers) => {
    const endRequest = activity.beginRequest();
    stream.on("close", endRequest);
    stream.on("error", () => {});
    const respond = () => {
      if (!stream.destroyed) stream.respond({ ":status": 200 });
      stream.end("x".repeat(options.responseBytes ?? 4));
    };
    setTimeout(respond, Number(String(headers[":path"]).slice(1)));
  });
  await activity.listen(server, options.address, options.port);
  const client = connect(`http://${options.address}:${options.port}`);
  client.on("error", () => {});
  const send = (ms: number) => {
    const stream = client.request({ ":path": `/${ms}` });
    stream.on("error", () => {});
    stream.end();
    // The client reads only after the complete response has arrived, so that its WINDOW_UPDATE is the last frame.
    setTimeout(() => stream.resume(), SHORT_INTERVAL_MS);
  };
  for (const ms of options.responseDelaysMs) send(ms);
  await pause(3 * SHORT_INTERVAL_MS);
  if (options.laterResponseDelayMs !== undefined) send(options.laterResponseDelayMs);
  if (options.sendsPing === true) for (const session of sessions) session.ping(activity.recordTraffic);
  await pause(SHORT_INTERVAL_MS);
  const startDrain = () => {
    for (const session of sessions) session.close();
  };
  return activity.toRunningScenario({ startDrain, closeClient: () => client.destroy() });
}
