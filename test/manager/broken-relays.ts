/** Everything that may be where a relay should be, and is none, or no longer. */
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { WithdrawalLine } from "../../src/contract/relay-wire.ts";
import type { TestClock } from "../clock/test-clock.ts";
import { ownAddress } from "../leases/own-address.ts";
import { pause } from "../time/pause.ts";
import {
  type Authority,
  authority,
  type FakeRelay,
  leafOf,
  line,
  type RelayAt,
  relayEnvironment,
  startRelay,
} from "./fake-relay.ts";

/** Where the manager is to ask, and what happens there later. */
export type Broken = { readonly env: Record<string, string>; readonly during?: () => Promise<void> };

export type BrokenRelay = {
  readonly says: string;
  /** By how much a drain ends later than without one: a word that was relied on is missed first. */
  readonly lateMs?: number;
  /** What it does later it does by the clock, where there is one. */
  readonly start: (ca: Authority, clock?: TestClock) => Promise<Broken>;
};

/** A look later than planned. */
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

/** A server of bare TCP. */
const bare = (says: string, onSocket: (socket: Socket) => void): BrokenRelay => ({
  says,
  start: async (ca) => ({ env: relayEnvironment(await listening(createServer(onSocket)), ca) }),
});

/** A relay with another certificate than it should have. */
const impostor = (says: string, leaf: (ca: Authority) => Promise<Authority>): BrokenRelay => ({
  says,
  start: async (ca, clock) => ({ env: (await startRelay({ ca, leaf: await leaf(ca), ...by(clock) })).env }),
});

/** A relay that lets itself be talked to and answers like this. */
const answering = (says: string, answers: NonNullable<Parameters<typeof startRelay>[0]>["answers"]): BrokenRelay => ({
  says,
  start: async (ca, clock) => {
    const relay = await startRelay({ ca, ...by(clock), ...(answers === undefined ? {} : { answers }) });
    return { env: relay.env };
  },
});

/** A relay that offers the Pod, and then something happens to it. */
const failing = (says: string, lateMs: number, fail: (relay: FakeRelay) => Promise<void> | void): BrokenRelay => ({
  says,
  lateMs,
  start: async (ca, clock) => {
    const relay = await startRelay({ ca, ...by(clock) });
    const during = async () => {
      await relay.asked();
      await fail(relay);
    };
    return { env: relay.env, during };
  },
});

const status = (code: number): BrokenRelay =>
  answering(`answers ${code}`, (_, res) => {
    res.writeHead(code, { "content-type": "text/plain" }).end("no\n");
  });

const said = (what: WithdrawalLine): string => `${JSON.stringify(what)}\n`;

export const BROKEN_RELAYS: readonly BrokenRelay[] = [
  {
    says: "is not there",
    start: async (ca) => {
      const server = createServer();
      const at = await listening(server);
      server.close();
      return { env: relayEnvironment(at, ca) };
    },
  },
  bare("takes connections and says nothing", () => {}),
  bare("hangs up", (socket) => socket.destroy()),
  bare("speaks neither TLS nor HTTP", (socket) => void socket.write(Buffer.alloc(4_096, 0x16))),
  {
    says: "speaks plain HTTP",
    start: async (ca) => ({
      env: relayEnvironment(await listening(createHttpServer((_, res) => void res.end(said(line())))), ca),
    }),
  },
  impostor("is vouched for by another CA", async () => leafOf(await authority("someone else"))),
  impostor("has another name", (ca) => leafOf(ca, { name: "relay-2.lastcall.internal" })),
  impostor("has a certificate that is over", (ca) =>
    leafOf(ca, { from: new Date(Date.now() - 3 * DAY_MS), until: new Date(Date.now() - DAY_MS) }),
  ),
  status(401),
  status(404),
  status(413),
  status(500),
  answering("answers and then says nothing", (_, res) => void res.writeHead(200).flushHeaders()),
  answering("never answers", () => {}),
  answering("writes a line without an end", (_, res) => {
    res.writeHead(200);
    res.write(`{"state":"in","reason":"${"x".repeat(100_000)}`);
  }),
  answering("writes what is no answer", (_, res) => {
    res.writeHead(200);
    res.write('{"state":"in","terminating":"yes","reason":""}\n');
  }),
  answering("writes no JSON", (_, res) => {
    res.writeHead(200);
    res.write(`${"[".repeat(2_000)}\n\u0000\n`);
  }),
  answering("floods", (_, res) => {
    res.writeHead(200);
    const flood = said(line()).repeat(200);
    const pour = () => {
      while (!res.destroyed && res.write(flood));
    };
    res.on("drain", pour);
    pour();
  }),
  answering("ends every answer at once", (_, res) => void res.writeHead(200).end(said(line()))),
  failing("offers the Pod and falls silent", SILENCE_NOTICED_MS, (relay) => relay.freeze()),
  failing("offers the Pod and dies", 0, (relay) => relay.die()),
  {
    says: "offers the Pod and is cut off",
    lateMs: SILENCE_NOTICED_MS,
    start: async (ca, clock) => {
      const relay = await startRelay({ ca, ...by(clock) });
      const cable = await startCable(relay.at);
      const during = async () => {
        await relay.asked();
        await (clock?.wait(300) ?? pause(300, "the first answer still comes through"));
        cable.cut();
      };
      return { env: relayEnvironment(cable.at, ca), during };
    },
  },
];

export type Cable = {
  readonly at: RelayAt;
  /** From now on nothing comes through, and no end is told the other's. */
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
