/** Lists servers in place of a relay that are broken or break later. */
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { WithdrawalStatusLine } from "../../src/contract/relay-wire.ts";
import type { TestClock } from "../clock/test-clock.ts";
import { ownAddress } from "../leases/own-address.ts";
import { pause } from "../time/pause.ts";
import {
  type Authority,
  authority,
  type FakeRelay,
  leafOf,
  type RelayAt,
  relayEnvironment,
  startRelay,
  statusLine,
} from "./fake-relay.ts";

/** The manager's variables, and the fault that happens during the drain. */
export type Broken = { readonly env: Record<string, string>; readonly during?: () => Promise<void> };

export type BrokenRelay = {
  /** Completes a test title whose subject is the relay. */
  readonly behaviour: string;
  /** Added to the drain by a relay that was trusted: its last status expires first. */
  readonly lateMs?: number;
  readonly start: (ca: Authority, clock?: TestClock) => Promise<Broken>;
};

/** One late sample. */
const SILENCE_NOTICED_MS = 150;

const by = (clock: TestClock | undefined) => (clock === undefined ? {} : { clock });

const DAY_MS = 86_400_000;
const running: { readonly server: Server; readonly sockets: Set<Socket> }[] = [];

export function endBrokenRelays(): void {
  for (const { server, sockets } of running.splice(0)) {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

async function listening(server: Server): Promise<RelayAt> {
  const address = ownAddress();
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  running.push({ server, sockets });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return { address, port: (server.address() as AddressInfo).port };
}

const bare = (behaviour: string, onSocket: (socket: Socket) => void): BrokenRelay => ({
  behaviour,
  start: async (ca) => ({ env: relayEnvironment(await listening(createServer(onSocket)), ca) }),
});

const impostor = (behaviour: string, leaf: (ca: Authority) => Promise<Authority>): BrokenRelay => ({
  behaviour,
  start: async (ca, clock) => ({ env: (await startRelay({ ca, leaf: await leaf(ca), ...by(clock) })).env }),
});

const answering = (
  behaviour: string,
  answers: NonNullable<Parameters<typeof startRelay>[0]>["answers"],
): BrokenRelay => ({
  behaviour,
  start: async (ca, clock) => {
    const relay = await startRelay({ ca, ...by(clock), ...(answers === undefined ? {} : { answers }) });
    return { env: relay.env };
  },
});

/** A relay that offers the Pod and then fails. */
const failing = (behaviour: string, lateMs: number, fail: (relay: FakeRelay) => Promise<void> | void): BrokenRelay => ({
  behaviour,
  lateMs,
  start: async (ca, clock) => {
    const relay = await startRelay({ ca, ...by(clock) });
    const during = async () => {
      await relay.requested();
      await fail(relay);
    };
    return { env: relay.env, during };
  },
});

const status = (code: number): BrokenRelay =>
  answering(`answers ${code}`, (_, res) => {
    res.writeHead(code, { "content-type": "text/plain" }).end("no\n");
  });

const lineOf = (status: WithdrawalStatusLine): string => `${JSON.stringify(status)}\n`;

export const BROKEN_RELAYS: readonly BrokenRelay[] = [
  {
    behaviour: "does not listen",
    start: async (ca) => {
      const server = createServer();
      const at = await listening(server);
      server.close();
      return { env: relayEnvironment(at, ca) };
    },
  },
  bare("accepts connections and sends nothing", () => {}),
  bare("closes the connection", (socket) => socket.destroy()),
  bare("sends neither TLS nor HTTP", (socket) => void socket.write(Buffer.alloc(4_096, 0x16))),
  {
    behaviour: "serves plain HTTP",
    start: async (ca) => ({
      env: relayEnvironment(await listening(createHttpServer((_, res) => void res.end(lineOf(statusLine())))), ca),
    }),
  },
  impostor("has a certificate of another CA", async () => leafOf(await authority("someone else"))),
  impostor("has a certificate for another name", (ca) => leafOf(ca, { name: "relay-2.lastcall.internal" })),
  impostor("has an expired certificate", (ca) =>
    leafOf(ca, { from: new Date(Date.now() - 3 * DAY_MS), until: new Date(Date.now() - DAY_MS) }),
  ),
  status(401),
  status(404),
  status(413),
  status(500),
  answering("sends headers and no line", (_, res) => void res.writeHead(200).flushHeaders()),
  answering("never responds", () => {}),
  answering("writes a line without an end", (_, res) => {
    res.writeHead(200);
    res.write(`{"state":"in","reason":"${"x".repeat(100_000)}`);
  }),
  answering("writes an invalid line", (_, res) => {
    res.writeHead(200);
    res.write('{"state":"in","terminating":"yes","reason":""}\n');
  }),
  answering("writes lines that are not JSON", (_, res) => {
    res.writeHead(200);
    res.write(`${"[".repeat(2_000)}\n\u0000\n`);
  }),
  answering("sends endless data", (_, res) => {
    res.writeHead(200);
    const flood = lineOf(statusLine()).repeat(200);
    const pour = () => {
      while (!res.destroyed && res.write(flood));
    };
    res.on("drain", pour);
    pour();
  }),
  answering("ends every response after one line", (_, res) => void res.writeHead(200).end(lineOf(statusLine()))),
  failing("reports the Pod as offered and stops writing", SILENCE_NOTICED_MS, (relay) => relay.freeze()),
  failing("reports the Pod as offered and exits", 0, (relay) => relay.die()),
  {
    behaviour: "reports the Pod as offered and loses its network",
    lateMs: SILENCE_NOTICED_MS,
    start: async (ca, clock) => {
      const relay = await startRelay({ ca, ...by(clock) });
      const cable = await startCable(relay.at);
      const during = async () => {
        await relay.requested();
        await (clock?.wait(300) ?? pause(300, "the first answer still comes through"));
        cable.cut();
      };
      return { env: relayEnvironment(cable.at, ca), during };
    },
  },
];

export type Cable = {
  readonly at: RelayAt;
  /** Drops everything from now on, including the close of either side. */
  readonly cut: () => void;
};

async function startCable(to: RelayAt): Promise<Cable> {
  let whole = true;
  const server = createServer({ allowHalfOpen: true }, (near) => {
    if (!whole) return;
    const far = connect({ host: to.address, port: to.port });
    far.on("error", () => {});
    near.on("data", (chunk) => (whole ? far.write(chunk) : undefined));
    far.on("data", (chunk) => (whole ? near.write(chunk) : undefined));
    near.on("close", () => far.destroy());
    far.on("close", () => (whole ? near.destroy() : undefined));
  });
  const at = await listening(server);
  return {
    at,
    cut: () => {
      whole = false;
    },
  };
}
