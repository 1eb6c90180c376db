/**
 * Runs the app of the rollouts: HTTP/1.1 on one port, HTTP/2 without TLS and gRPC's wire format on the next port. Exits
 * immediately on its stop signal, as most apps do, even with open requests; with the argument `graceful` it first finishes its
 * requests and closes its connections.
 *
 * The loopback port serves `POST /drain` and `GET /active` to the driver `http`.
 */
import { createServer } from "node:http";
import {
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { createServer as createTcpServer, Server as TcpServer } from "node:net";
import { encodeFrame } from "../harness/grpc-frame.ts";
import { ACTIVE_PORT, RESPONSE_DELAY_MS } from "./app-facts.ts";
import { createHttp2Connection, type Http2Connection } from "./http2-connection.ts";

const host = process.env["LISTEN_ON"] ?? "::";
const port = Number(process.env["PORT"] ?? "8080");
/** Time from the stop signal until the app closes idle connections. Responses during this time contain `Connection: close`. */
const IDLE_CLOSE_MS = 2_000;
let isDraining = false;
let openRequests = 0;

const http1 = createServer((request, response) => {
  const [path = "", milliseconds = ""] = (request.url ?? "/").split("=");
  if (path === "/healthz") {
    response.end("ok\n");
    return;
  }
  openRequests += 1;
  response.once("close", () => {
    openRequests -= 1;
  });
  setTimeout(
    () => {
      if (isDraining) response.setHeader("Connection", "close");
      response.end("hello\n");
    },
    path === "/slow?ms" ? Number(milliseconds) : RESPONSE_DELAY_MS,
  );
});
// Without a timeout the app never closes an idle connection first.
http1.keepAliveTimeout = 0;

const sessions = new Map<ServerHttp2Session, Http2Connection>();
const http2 = createTcpServer({ noDelay: true }, (socket) => {
  const connection = createHttp2Connection(socket);
  const session = performServerHandshake(connection.duplex);
  sessions.set(session, connection);
  session.once("close", () => sessions.delete(session));
  session.on("error", () => session.destroy());
  session.on("stream", onStream);
  if (isDraining) drainSession(session, connection);
});

function onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  openRequests += 1;
  stream.once("close", () => {
    openRequests -= 1;
  });
  stream.on("error", () => {});
  stream.resume();
  const respond = headers["content-type"] === "application/grpc" ? respondGrpc : respondHttp2;
  setTimeout(() => {
    if (!stream.destroyed) respond(stream);
  }, RESPONSE_DELAY_MS);
}

function respondHttp2(stream: ServerHttp2Stream): void {
  stream.respond({ ":status": 200, "content-type": "text/plain" });
  stream.end("hello\n");
}

function respondGrpc(stream: ServerHttp2Stream): void {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(encodeFrame("hello"));
}

/** Sends a shutdown notice, and the final GOAWAY after the client's ACK of a PING (RFC 9113, section 6.8). */
function drainSession(session: ServerHttp2Session, connection: Http2Connection): void {
  if (session.closed || session.destroyed) return;
  connection.sendShutdownNotice();
  session.ping(() => {
    if (!session.destroyed) session.close();
  });
}

const admin = createServer((request, response) => {
  if (request.method === "POST") {
    isDraining = true;
    for (const [session, connection] of sessions) drainSession(session, connection);
  }
  response.end(String(openRequests));
});

// HTTP/1.1 listens last, because it serves the readiness probe: a ready Pod has both ports open.
if (process.env["UPSTREAM"] === undefined) admin.listen(ACTIVE_PORT, "127.0.0.1");
http2.listen(port + 1, host, () => http1.listen(port, host));
process.once("SIGTERM", () => {
  if (!process.argv.includes("graceful")) process.exit(143);
  isDraining = true;
  for (const [session, connection] of sessions) drainSession(session, connection);
  // Stops listening. Unlike `close()` of `http.Server`, this call keeps idle connections, on which a request may be arriving.
  TcpServer.prototype.close.call(http1, () => process.exit(0));
  setTimeout(() => http1.closeIdleConnections(), IDLE_CLOSE_MS);
});
