/**
 * Sample application of the demo: an HTTP server that exits on SIGTERM without finishing open requests, or with the argument
 * `graceful` after it has finished them and closed its connections.
 *
 * The driver `http` uses `POST /drain`, after which responses carry `Connection: close`, and `GET /active`.
 */
import { createServer } from "node:http";
import { Server as TcpServer } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

const port = Number(process.env["PORT"] ?? "8080");
const host = process.env["LISTEN_ON"] ?? "::";
/** For this time after the stop signal, requests on idle connections are still answered, with `Connection: close`. */
const IDLE_CLOSE_MS = 2_000;
let isDraining = false;
let activeCount = 0;

const server = createServer(async (request, response) => {
  const url = new URL(request.url ?? "/", "http://app");
  if (url.pathname === "/active") return response.end(String(activeCount));
  if (url.pathname === "/healthz") return response.end("ok\n");
  if (url.pathname === "/drain" && request.method === "POST") {
    isDraining = true;
    return response.end("draining\n");
  }
  activeCount += 1;
  response.once("close", () => {
    activeCount -= 1;
  });
  const ms = url.pathname === "/slow" ? Number(url.searchParams.get("ms") ?? "0") : 5;
  await wait(ms);
  if (isDraining) response.setHeader("Connection", "close");
  return response.end("hello\n");
});

// Longer than any client keeps an idle connection open, so that the app is never the first to close it.
server.keepAliveTimeout = 75_000;
server.listen(port, host);
process.once("SIGTERM", () => {
  if (!process.argv.includes("graceful")) process.exit(143);
  isDraining = true;
  // Stops listening. Unlike `close` of `http.Server`, keeps idle connections open, because a request may be arriving on them.
  TcpServer.prototype.close.call(server, () => process.exit(0));
  setTimeout(() => server.closeIdleConnections(), IDLE_CLOSE_MS);
});
