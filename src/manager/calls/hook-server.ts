/** The manager's HTTP server: responds to a request at once, or holds the request until `respond` is called. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { DrainSettings } from "../../contract/drain-settings.ts";
import type { NowMs, PortGuard } from "../ports.ts";
import { canonicalAddress } from "../sockets/address-text.ts";
import { isLocalClient, routeOf } from "./call-route.ts";
import { createConnectionTable } from "./connection-table.ts";

type HookHandlers = {
  readonly onHook: (holdId: number, container: string, peer: string) => void;
  readonly onDrain: (holdId: number) => void;
  readonly onDisconnect: (holdId: number) => void;
  readonly status: () => string;
  readonly onListening: () => void;
  /** Called if the port is not available; the server then retries. */
  readonly onListenError: (message: string) => void;
};

type HookServer = {
  readonly open: (handlers: HookHandlers) => void;
  /** Responds to one hold. Ignores unknown IDs, because a connection can close at any time. */
  readonly respond: (holdId: number, body: string) => void;
  readonly acceptedCount: () => number;
};

/** The manager retries while its port is in use, because an exit would make the Pod NotReady. */
const RETRY_MS = 5_000;

type OpenHold = { readonly id: number; readonly res: ServerResponse; readonly socket: Socket };

/** @param guard closes unauthenticated connections before the server reads them */
export function createHookServer(settings: DrainSettings, token: string, guard: PortGuard, nowMs: NowMs): HookServer {
  const table = createConnectionTable(nowMs);
  const containers = settings.hooks.map((hook) => hook.container);
  let openHolds: OpenHold[] = [];
  let lastId = 0;
  let refusedCount = 0;

  const send = (socket: Socket, res: ServerResponse, status: number, body: string): void => {
    res.on("finish", () => {
      table.release(socket);
    });
    res.writeHead(status, {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      connection: "close",
    });
    res.end(body);
  };

  const hold = (socket: Socket, res: ServerResponse, onDisconnect: (holdId: number) => void): number => {
    lastId = lastId + 1;
    const id = lastId;
    table.markAuthenticated(socket);
    openHolds.push({ id, res, socket });
    res.on("close", () => {
      if (!openHolds.some((one) => one.id === id)) return;
      openHolds = openHolds.filter((one) => one.id !== id);
      onDisconnect(id);
    });
    return id;
  };

  const handle = (req: IncomingMessage, res: ServerResponse, handlers: HookHandlers): void => {
    const socket = req.socket;
    const peer = canonicalAddress(socket.remoteAddress ?? "");
    const isLocal = isLocalClient(peer, settings.addressScope);
    const route = routeOf({ method: req.method ?? "", url: req.url ?? "", isLocal }, token, containers);
    // An unread body would keep the request open.
    req.on("data", () => {});
    switch (route.kind) {
      case "status":
        send(socket, res, 200, handlers.status());
        return;
      case "prestop":
        handlers.onHook(hold(socket, res, handlers.onDisconnect), route.container, peer);
        return;
      case "drain":
        handlers.onDrain(hold(socket, res, handlers.onDisconnect));
        return;
      default:
        // The native runtime sends a body even in the response to HEAD, so the body has to be empty.
        send(socket, res, 404, req.method === "HEAD" ? "" : NOT_FOUND);
    }
  };

  const open = (handlers: HookHandlers): void => {
    const server: Server = createServer((req, res) => {
      try {
        handle(req, res, handlers);
      } catch {
        // A failing request must not affect other holds.
        req.socket.destroy();
      }
    });
    // The server does not have a timeout. After a stall, a timeout would close connections whose request has arrived but was not read.
    server.on("connection", (socket: Socket) => {
      if (!guard.admits(socket)) {
        refusedCount = refusedCount + 1;
        socket.on("error", () => {});
        socket.destroy();
        return;
      }
      table.add(socket, canonicalAddress(socket.remoteAddress ?? ""));
    });
    let isListening = false;
    server.on("error", (error) => {
      // While the server listens, an error is a failed accept, which affects only one connection.
      if (isListening) return;
      handlers.onListenError(error.message);
      setTimeout(() => open(handlers), RETRY_MS);
    });
    const onListening = (): void => {
      isListening = true;
      guard.attach(server);
      handlers.onListening();
    };
    if (settings.addressScope === "") server.listen(settings.port, onListening);
    else server.listen(settings.port, settings.addressScope, onListening);
  };

  return {
    open,
    respond: (holdId, body) => {
      const openHold = openHolds.find((candidate) => candidate.id === holdId);
      if (openHold === undefined) return;
      openHolds = openHolds.filter((candidate) => candidate.id !== holdId);
      send(openHold.socket, openHold.res, 200, body);
    },
    acceptedCount: () => table.acceptedCount() + refusedCount + guard.closedCount(),
  };
}

const NOT_FOUND = '{"error":"not found"}';
