/** A relay as bad or as good as a test wants it, on a loopback address of its own. */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { generate } from "selfsigned";
import {
  RELAY_ADDRESS_VARIABLE,
  RELAY_CA_VARIABLE,
  RELAY_CREDENTIAL_VARIABLE,
  RELAY_NAME_VARIABLE,
} from "../../src/contract/manager-environment.ts";
import { DRAINS_PATH, RELAY_PULSE_MS, type WithdrawalLine } from "../../src/contract/relay-wire.ts";

export const RELAY_NAME = "relay-1.lastcall.internal";
export const CREDENTIAL = "k1.cGF5bG9hZA.bWFj";

export type Authority = { readonly cert: string; readonly key: string };

export async function authority(name = "a relay's authority"): Promise<Authority> {
  const made = await generate([{ name: "commonName", value: name }], {
    keyType: "ec",
    curve: "P-256",
    algorithm: "sha256",
    extensions: [{ name: "basicConstraints", cA: true, critical: true }],
  });
  return { cert: made.cert, key: made.private };
}

export type Leaf = { readonly name?: string; readonly from?: Date; readonly until?: Date };

export async function leafOf(ca: Authority, leaf: Leaf = {}): Promise<Authority> {
  const name = leaf.name ?? RELAY_NAME;
  const made = await generate([{ name: "commonName", value: name }], {
    keyType: "ec",
    curve: "P-256",
    algorithm: "sha256",
    ca,
    ...(leaf.from === undefined ? {} : { notBeforeDate: leaf.from }),
    ...(leaf.until === undefined ? {} : { notAfterDate: leaf.until }),
    extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: name }] }],
  });
  return { cert: made.cert, key: made.private };
}

/** What a manager is given to reach a relay there. */
export function relayEnvironment(port: number, ca: Authority, address = "127.0.0.1"): Record<string, string> {
  return {
    [RELAY_ADDRESS_VARIABLE]: `${address}:${port}`,
    [RELAY_NAME_VARIABLE]: RELAY_NAME,
    [RELAY_CA_VARIABLE]: ca.cert.replace(/-----[A-Z ]+-----|\s/g, ""),
    [RELAY_CREDENTIAL_VARIABLE]: CREDENTIAL,
    POD_NAME: "web-0",
    POD_NAMESPACE: "shop",
    POD_UID: "11111111-2222-3333-4444-555555555555",
    POD_IPS: "10.0.0.7,fd00::7",
  };
}

export const line = (over: Partial<WithdrawalLine> = {}): WithdrawalLine => ({
  state: "in",
  terminating: true,
  services: 1,
  reason: "",
  ...over,
});

export type Question = {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Record<string, unknown>;
  readonly servername: string | false | null;
};

export type FakeRelay = {
  readonly port: number;
  readonly env: Record<string, string>;
  /** Tells this to all who ask, now and later. */
  readonly say: (what: WithdrawalLine) => void;
  readonly questions: readonly Question[];
  /** Reports, in the order of their arrival. */
  readonly notices: readonly Record<string, unknown>[];
  readonly asked: (count?: number) => Promise<void>;
  readonly reported: () => Promise<Record<string, unknown>>;
  /** Streams that are open. */
  readonly streams: () => number;
  /** Cuts all connections and accepts no more. */
  readonly die: () => Promise<void>;
  /** Listens again on the same port. */
  readonly rise: () => Promise<void>;
  /** Connections stay and nothing is written any more. */
  readonly freeze: () => void;
};

export type Relaying = {
  readonly ca?: Authority;
  readonly leaf?: Authority;
  readonly first?: WithdrawalLine;
  readonly pulses?: boolean;
  readonly port?: number;
  /** Answers in the relay's place. */
  readonly answers?: (req: IncomingMessage, res: ServerResponse, body: string) => void;
};

export async function startRelay(relaying: Relaying = {}): Promise<FakeRelay> {
  const ca = relaying.ca ?? (await authority());
  const leaf = relaying.leaf ?? (await leafOf(ca));
  const sockets = new Set<Duplex>();
  const questions: Question[] = [];
  const notices: Record<string, unknown>[] = [];
  let streams: { readonly res: ServerResponse; readonly pulse: boolean }[] = [];
  let now = relaying.first ?? line();
  let frozen = false;
  const watchers = new Set<() => void>();
  const until = (what: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!what()) return;
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
      look();
    });
  const write = (res: ServerResponse) => {
    if (frozen) return;
    res.write(`${JSON.stringify(now)}\n`);
  };
  const handle = (req: IncomingMessage, res: ServerResponse, text: string) => {
    const path = req.url ?? "";
    const body: Record<string, unknown> = JSON.parse(text);
    const servername = "servername" in req.socket ? (req.socket.servername as string) : null;
    if (frozen) return;
    questions.push({ path, authorization: req.headers.authorization, body, servername });
    if (path === DRAINS_PATH) {
      notices.push(body);
      res.writeHead(204).end();
    } else {
      res.writeHead(200, { "content-type": "application/x-ndjson" });
      const stream = { res, pulse: path.includes("?pulse") && relaying.pulses !== false };
      streams.push(stream);
      res.on("close", () => {
        streams = streams.filter((one) => one !== stream);
      });
      write(res);
    }
    for (const watcher of watchers) watcher();
  };
  const listen = async (port: number): Promise<Server> => {
    const server = createServer({ cert: leaf.cert, key: leaf.key }, (req, res) => {
      let text = "";
      req.on("data", (chunk: Buffer) => {
        text += chunk.toString("utf8");
      });
      req.on("end", () => (relaying.answers ?? handle)(req, res, text));
    });
    server.on("connection", (socket) => {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
    });
    server.on("tlsClientError", () => {});
    await new Promise<void>((resolve, reject) => {
      server.on("error", reject);
      server.listen(port, "127.0.0.1", resolve);
    });
    return server;
  };
  let server = await listen(relaying.port ?? 0);
  const port = (server.address() as AddressInfo).port;
  const pulse = setInterval(() => {
    for (const stream of streams) if (stream.pulse) write(stream.res);
  }, RELAY_PULSE_MS);
  pulse.unref();
  const relay: FakeRelay = {
    port,
    env: relayEnvironment(port, ca),
    say: (what) => {
      now = what;
      for (const stream of streams) write(stream.res);
    },
    questions,
    notices,
    asked: (count = 1) => until(() => questions.filter((one) => one.path !== DRAINS_PATH).length >= count),
    reported: async () => {
      await until(() => notices.length > 0);
      return notices[0] ?? {};
    },
    streams: () => streams.length,
    die: async () => {
      const closing = server.listening ? once(server.close(), "close") : Promise.resolve();
      for (const socket of sockets) socket.destroy();
      await closing;
    },
    rise: async () => {
      server = await listen(port);
    },
    freeze: () => {
      frozen = true;
    },
  };
  running.push({ relay, pulse });
  return relay;
}

const running: { readonly relay: FakeRelay; readonly pulse: NodeJS.Timeout }[] = [];

/** Ends whatever the tests of a file left. */
export async function endRelays(): Promise<void> {
  for (const { relay, pulse } of running.splice(0)) {
    clearInterval(pulse);
    await relay.die();
  }
}
