/**
 * An application that says what happens to it: one JSON line per thing, with its time. Dies at SIGTERM like most do.
 *
 * `/slow?ms=N` answers late; `/live` is a liveness probe that fails after `POST /sicken`; `POST /drain` and `GET /active`
 * are for the `http` driver; `/hook` is for a preStop hook of its own. Port from PORT.
 */
import { createServer } from "node:http";
import { setTimeout as wait } from "node:timers/promises";

let sick = false;
let draining = false;
let active = 0;

function say(what: string, more: object = {}): void {
  process.stdout.write(`${JSON.stringify({ atMs: Date.now(), what, ...more })}\n`);
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url ?? "/", "http://app");
  switch (`${request.method} ${url.pathname}`) {
    case "GET /healthz":
      response.end("ok\n");
      return;
    case "GET /live":
      if (sick) say("failed its liveness probe");
      response.statusCode = sick ? 500 : 200;
      response.end();
      return;
    case "POST /sicken":
      sick = true;
      response.end();
      return;
    case "GET /active":
      response.end(String(active));
      return;
    case "POST /drain":
      say("told to drain");
      draining = true;
      response.end();
      return;
    case "GET /hook":
      say("hook called", { agent: request.headers["user-agent"], connection: request.headers.connection });
      request.socket.once("close", () => say("hook's connection closed"));
      response.end();
      return;
    default:
      active += 1;
      response.once("close", () => {
        active -= 1;
      });
      await wait(url.pathname === "/slow" ? Number(url.searchParams.get("ms") ?? "0") : 5);
      if (draining) response.setHeader("Connection", "close");
      response.end("hello\n");
  }
});

// Longer than any client keeps a connection: the app must not be the one that closes first.
server.keepAliveTimeout = 75_000;
server.listen(Number(process.env["PORT"] ?? "8080"), "::", () => say("started"));
process.once("SIGTERM", () => {
  say("SIGTERM");
  process.exit(143);
});
