/**
 * The demo's application: a plain HTTP server that dies at SIGTERM like most do, with requests in its hands.
 *
 * `POST /drain` and `GET /active` are for the `http` driver: after the first, every answer asks its client to close.
 */
import { createServer } from "node:http";
import { setTimeout as wait } from "node:timers/promises";

const port = Number(process.env["PORT"] ?? "8080");
/** Empty: every address. Where Pods share a network each must listen on its own. */
const host = process.env["LISTEN_ON"] ?? "";
let draining = false;
let active = 0;

const server = createServer(async (request, response) => {
  const url = new URL(request.url ?? "/", "http://app");
  if (url.pathname === "/active") {
    response.end(String(active));
    return;
  }
  if (url.pathname === "/drain" && request.method === "POST") {
    draining = true;
    response.end("draining\n");
    return;
  }
  if (url.pathname === "/healthz") {
    response.end("ok\n");
    return;
  }
  active += 1;
  response.once("close", () => {
    active -= 1;
  });
  const ms = url.pathname === "/slow" ? Number(url.searchParams.get("ms") ?? "0") : 5;
  await wait(ms);
  if (draining) response.setHeader("Connection", "close");
  response.end("hello\n");
});

// Longer than any client keeps a connection: the app must not be the one that closes first.
server.keepAliveTimeout = 75_000;
server.listen(port, host === "" ? "::" : host);
process.once("SIGTERM", () => process.exit(143));
