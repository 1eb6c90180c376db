/** The server of a fake relay: one stream per question, a pulse where one is asked for, and every fault on demand. */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { Socket } from "node:net";
import { DRAINS_PATH, RELAY_PULSE_MS, type WithdrawalLine } from "../../src/contract/relay-wire.ts";

import type { TestClock } from "../clock/test-clock.ts";

export type Question = {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Record<string, unknown>;
  readonly servername: string | false | null;
};

export type RelayNews =
  | { readonly kind: "question"; readonly question: Question }
  | { readonly kind: "notice"; readonly notice: Record<string, unknown> }
  | { readonly kind: "streams"; readonly count: number };

/** Plain data, so that it can be handed to a thread. */
export type RelayPlan = {
  readonly address: string;
  readonly leaf: { readonly cert: string; readonly key: string };
  readonly first: WithdrawalLine;
  readonly pulses: boolean;
};

/** Answers in the relay's place. */
export type RelayAnswers = (req: IncomingMessage, res: ServerResponse, body: string) => void;

export type RelayServer = {
  readonly port: number;
  readonly say: (what: WithdrawalLine) => void;
  readonly die: () => Promise<void>;
  readonly rise: () => Promise<void>;
  readonly freeze: () => void;
};

/** It comes back on it after it was gone: only the address has to be its own. */
const PORT = 8_443;

export async function openRelay(
  plan: RelayPlan,
  tell: (news: RelayNews) => void,
  answers?: RelayAnswers,
  clock?: TestClock,
): Promise<RelayServer> {
  const sockets = new Set<Socket>();
  let streams: { readonly res: ServerResponse; readonly pulse: boolean }[] = [];
  let now = plan.first;
  let frozen = false;
  const write = (res: ServerResponse) => {
    if (frozen) return;
    res.write(`${JSON.stringify(now)}\n`);
  };
  const follow = (res: ServerResponse, pulse: boolean) => {
    res.writeHead(200, { "content-type": "application/x-ndjson" });
    const stream = { res, pulse };
    streams.push(stream);
    res.on("close", () => {
      streams = streams.filter((one) => one !== stream);
      tell({ kind: "streams", count: streams.length });
    });
    tell({ kind: "streams", count: streams.length });
    write(res);
  };
  const handle: RelayAnswers = (req, res, text) => {
    if (frozen) return;
    const path = req.url ?? "";
    const body: Record<string, unknown> = JSON.parse(text);
    const servername = "servername" in req.socket ? (req.socket.servername as string) : null;
    if (path === DRAINS_PATH) res.writeHead(204).end();
    else follow(res, path.includes("?pulse") && plan.pulses);
    tell({ kind: "question", question: { path, authorization: req.headers.authorization, body, servername } });
    if (path === DRAINS_PATH) tell({ kind: "notice", notice: body });
  };
  const listen = async (port: number): Promise<Server> => {
    const server = createServer(plan.leaf, (req, res) => {
      let text = "";
      req.on("data", (chunk: Buffer) => {
        text += chunk.toString("utf8");
      });
      req.on("end", () => (answers ?? handle)(req, res, text));
    });
    server.on("connection", (socket: Socket) => {
      // Held back by the kernel it would come by the kernel's time, which no clock of a test moves.
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
    });
    server.on("tlsClientError", () => {});
    await new Promise<void>((resolve, reject) => {
      server.on("error", reject);
      server.listen(port, plan.address, resolve);
    });
    return server;
  };
  let server = await listen(PORT);
  const pulse = () => {
    for (const stream of streams) if (stream.pulse) write(stream.res);
  };
  if (clock === undefined) setInterval(pulse, RELAY_PULSE_MS).unref();
  else clock.every(RELAY_PULSE_MS, pulse);
  return {
    port: PORT,
    say: (what) => {
      now = what;
      for (const stream of streams) write(stream.res);
    },
    die: async () => {
      const closing = server.listening ? once(server.close(), "close") : Promise.resolve();
      for (const socket of sockets) socket.destroy();
      await closing;
    },
    rise: async () => {
      server = await listen(PORT);
    },
    freeze: () => {
      frozen = true;
    },
  };
}
