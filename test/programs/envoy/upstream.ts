/**
 * Runs the upstream of the proxies as a separate process: HTTP/1.1 with WebSockets, HTTP/2 with two gRPC methods, and echo
 * servers for TCP and UDP. Listens on `LISTEN_ON`, prints `ready` and runs until it is killed.
 */
import { createSocket } from "node:dgram";
import { createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import { createServer as createTcpServer, type Socket } from "node:net";
import { decodeFrames, encodeFrame } from "../harness/grpc-frame.ts";
import { createWebSocketServer } from "../protocols/websocket-server.ts";
import { UPSTREAM_PORTS } from "./upstream-ports.ts";

const host = process.env["LISTEN_ON"] ?? "127.0.0.1";
const LONGER_THAN_ANY_SCENARIO_MS = 600_000;

const webSockets = createWebSocketServer({
  onOpen: () => {},
  onFrame: (session) => webSockets.send(session, "answer"),
});
// Replaces the server's response to requests without an Upgrade header. Their path contains the milliseconds until the response.
webSockets.server.removeAllListeners("request");
webSockets.server.on("request", (req, res) => {
  setTimeout(() => res.end("done"), Number(req.url?.slice(1) ?? "0"));
});
webSockets.server.keepAliveTimeout = LONGER_THAN_ANY_SCENARIO_MS;

const http2 = createHttp2Server();
http2.on("stream", (stream, headers) => {
  stream.on("error", () => stream.destroy());
  const path = headers[":path"] ?? "/0";
  if (headers["content-type"] === "application/grpc") respondToCall(stream, path);
  else {
    stream.resume();
    setTimeout(() => respond(stream, () => stream.end("done")), Number(path.slice(1)));
  }
});

/** `Wait` responds after the milliseconds in its message; `Stream` sends a message at that interval until it is cancelled. */
function respondToCall(stream: ServerHttp2Stream, path: string): void {
  const chunks: Buffer[] = [];
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.on("end", () => {
    const ms = Number(decodeFrames(Buffer.concat(chunks))[0] ?? "0");
    if (path.endsWith("/Wait")) setTimeout(() => respond(stream, () => stream.end(encodeFrame("done"))), ms);
    else {
      respond(stream, () => stream.write(encodeFrame("message")));
      const timer = setInterval(() => stream.write(encodeFrame("message")), ms);
      stream.on("close", () => clearInterval(timer));
    }
  });
}

function respond(stream: ServerHttp2Stream, sendBody: () => void): void {
  if (stream.destroyed) return;
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  sendBody();
}

const tcp = createTcpServer((socket: Socket) => {
  socket.on("error", () => socket.destroy());
  socket.pipe(socket);
});

const udp = createSocket("udp4");
udp.on("message", (bytes, from) => udp.send(bytes, from.port, from.address));

await Promise.all([
  new Promise<void>((done) => webSockets.server.listen(UPSTREAM_PORTS.http1, host, done)),
  new Promise<void>((done) => http2.listen(UPSTREAM_PORTS.http2, host, done)),
  new Promise<void>((done) => tcp.listen(UPSTREAM_PORTS.tcp, host, done)),
  new Promise<void>((done) => udp.bind(UPSTREAM_PORTS.udp, host, done)),
]);
process.stdout.write("ready\n");
