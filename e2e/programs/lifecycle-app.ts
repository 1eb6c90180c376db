/**
 * An application that logs its lifecycle as JSON lines with times. It exits immediately at SIGTERM, like most applications; with
 * SHUTDOWN=graceful it first finishes its requests and closes its connections, and with SHUTDOWN=reset it resets them.
 *
 * `/slow?ms=N` answers late; `/live` is a liveness probe that fails after `POST /fail-liveness`; `POST /drain` and `GET /active`
 * are for the `http` driver; `/hook` is for its own preStop hook. The port comes from PORT.
 */
import { createServer } from "node:http";
import { type Socket, Server as TcpServer } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

let failsLiveness = false;
let isDraining = false;
let activeCount = 0;

function log(event: string, fields: object = {}): void {
  process.stdout.write(`${JSON.stringify({ atMs: Date.now(), what: event, ...fields })}\n`);
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url ?? "/", "http://app");
  switch (`${request.method} ${url.pathname}`) {
    case "GET /healthz":
      response.end("ok\n");
      return;
    case "GET /live":
      if (failsLiveness) log("failed its liveness probe");
      response.statusCode = failsLiveness ? 500 : 200;
      response.end();
      return;
    case "POST /fail-liveness":
      failsLiveness = true;
      response.end();
      return;
    case "GET /active":
      response.end(String(activeCount));
      return;
    case "POST /drain":
      log("drain requested");
      isDraining = true;
      response.end();
      return;
    case "GET /hook":
      log("hook called", { agent: request.headers["user-agent"], connection: request.headers.connection });
      request.socket.once("close", () => log("hook's connection closed"));
      response.end();
      return;
    default:
      activeCount += 1;
      response.once("close", () => {
        activeCount -= 1;
      });
      await wait(url.pathname === "/slow" ? Number(url.searchParams.get("ms") ?? "0") : 5);
      if (isDraining) response.setHeader("Connection", "close");
      response.end("hello\n");
  }
});

const sockets = new Set<Socket>();
server.on("connection", (socket) => {
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket));
});
// Longer than any client keeps an idle connection open, so that the app never closes a connection first.
server.keepAliveTimeout = 75_000;
server.listen(Number(process.env["PORT"] ?? "8080"), "::", () => log("started"));
process.once("SIGTERM", () => {
  log("SIGTERM");
  if (process.env["SHUTDOWN"] === "graceful") return closeConnections();
  if (process.env["SHUTDOWN"] === "reset") for (const socket of sockets) socket.resetAndDestroy();
  process.exit(143);
});

/** After SIGTERM the app closes idle connections only after this time; a request until then gets `Connection: close`. */
const IDLE_CLOSE_MS = 2_000;

function closeConnections(): void {
  isDraining = true;
  // Stops listening. Unlike the method of `http.Server` it keeps idle connections, on which a request may be arriving.
  TcpServer.prototype.close.call(server, () => process.exit(0));
  setTimeout(() => server.closeIdleConnections(), IDLE_CLOSE_MS);
}
