/** Lists servers that replace the relay and are broken from the start or fail during the drain. */
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { WithdrawalStatusLine } from "../../src/contract/relay-wire.ts";
import type { TestClock } from "../clock/test-clock.ts";
import { ownAddress } from "../leases/own-address.ts";
import { pause } from "../time/pause.ts";
import {
  type Authority,
  createAuthority,
  type FakeRelay,
  type HostAndPort,
  issueLeaf,
  relayEnvironment,
  startRelay,
  statusLine,
} from "./fake-relay.ts";

/** The manager's environment variables, and a function that causes the fault during the drain. */
export type StartedBrokenRelay = { readonly env: Record<string, string>; readonly causeFault?: () => Promise<void> };

export type BrokenRelay = {
  /** Completes a test title whose subject is the relay. */
  readonly behaviour: string;
  /** Time that the fault adds to the drain, because the manager relies on the relay's last status until the status expires. */
  readonly additionalMs?: number;
  readonly start: (ca: Authority, clock?: TestClock) => Promise<StartedBrokenRelay>;
};

/** The last status expires at the end of the drain delay, so the drain ends one sample later. */
const EXPIRY_MS = 150;

const clockOption = (clock: TestClock | undefined) => (clock === undefined ? {} : { clock });

const DAY_MS = 86_400_000;
const runningServers: { readonly server: Server; readonly sockets: Set<Socket> }[] = [];

export function endBrokenRelays(): void {
  for (const { server, sockets } of runningServers.splice(0)) {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

async function listenOnOwnAddress(server: Server): Promise<HostAndPort> {
  const address = ownAddress();
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  runningServers.push({ server, sockets });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return { address, port: (server.address() as AddressInfo).port };
}

const tcpRelay = (behaviour: string, onSocket: (socket: Socket) => void): BrokenRelay => ({
  behaviour,
  start: async (ca) => ({ env: relayEnvironment(await listenOnOwnAddress(createServer(onSocket)), ca) }),
});

const relayWithCertificate = (
  behaviour: string,
  issueCertificate: (ca: Authority) => Promise<Authority>,
): BrokenRelay => ({
  behaviour,
  start: async (ca, clock) => ({
    env: (await startRelay({ ca, leaf: await issueCertificate(ca), ...clockOption(clock) })).env,
  }),
});

const respondingRelay = (
  behaviour: string,
  respond: NonNullable<Parameters<typeof startRelay>[0]>["respond"],
): BrokenRelay => ({
  behaviour,
  start: async (ca, clock) => {
    const relay = await startRelay({ ca, ...clockOption(clock), ...(respond === undefined ? {} : { respond }) });
    return { env: relay.env };
  },
});

/** A relay that reports that the Pod is not withdrawn, and then fails. */
const failingRelay = (
  behaviour: string,
  additionalMs: number,
  fail: (relay: FakeRelay) => Promise<void> | void,
): BrokenRelay => ({
  behaviour,
  additionalMs,
  start: async (ca, clock) => {
    const relay = await startRelay({ ca, ...clockOption(clock) });
    const causeFault = async () => {
      await relay.untilRequested();
      await fail(relay);
    };
    return { env: relay.env, causeFault };
  },
});

const relayWithStatus = (code: number): BrokenRelay =>
  respondingRelay(`responds with ${code}`, (_, res) => {
    res.writeHead(code, { "content-type": "text/plain" }).end("no\n");
  });

const lineOf = (status: WithdrawalStatusLine): string => `${JSON.stringify(status)}\n`;

export const BROKEN_RELAYS: readonly BrokenRelay[] = [
  {
    behaviour: "does not listen",
    start: async (ca) => {
      const server = createServer();
      const hostAndPort = await listenOnOwnAddress(server);
      server.close();
      return { env: relayEnvironment(hostAndPort, ca) };
    },
  },
  tcpRelay("accepts connections and sends nothing", () => {}),
  tcpRelay("closes the connection", (socket) => socket.destroy()),
  tcpRelay("sends neither TLS nor HTTP", (socket) => void socket.write(Buffer.alloc(4_096, 0x16))),
  {
    behaviour: "serves plain HTTP",
    start: async (ca) => ({
      env: relayEnvironment(
        await listenOnOwnAddress(createHttpServer((_, res) => void res.end(lineOf(statusLine())))),
        ca,
      ),
    }),
  },
  relayWithCertificate("has a certificate of another CA", async () => issueLeaf(await createAuthority("someone else"))),
  relayWithCertificate("has a certificate for another name", (ca) =>
    issueLeaf(ca, { name: "relay-2.lastcall.internal" }),
  ),
  relayWithCertificate("has an expired certificate", (ca) =>
    issueLeaf(ca, { from: new Date(Date.now() - 3 * DAY_MS), until: new Date(Date.now() - DAY_MS) }),
  ),
  relayWithStatus(401),
  relayWithStatus(404),
  relayWithStatus(413),
  relayWithStatus(500),
  respondingRelay("sends headers and no line", (_, res) => void res.writeHead(200).flushHeaders()),
  respondingRelay("never responds", () => {}),
  respondingRelay("writes a line without an end", (_, res) => {
    res.writeHead(200);
    res.write(`{"state":"in","reason":"${"x".repeat(100_000)}`);
  }),
  respondingRelay("writes an invalid line", (_, res) => {
    res.writeHead(200);
    res.write('{"state":"in","terminating":"yes","reason":""}\n');
  }),
  respondingRelay("writes lines that are not JSON", (_, res) => {
    res.writeHead(200);
    res.write(`${"[".repeat(2_000)}\n\u0000\n`);
  }),
  respondingRelay("sends endless data", (_, res) => {
    res.writeHead(200);
    const lines = lineOf(statusLine()).repeat(200);
    const writeUntilFull = () => {
      while (!res.destroyed && res.write(lines));
    };
    res.on("drain", writeUntilFull);
    writeUntilFull();
  }),
  respondingRelay("ends every response after one line", (_, res) => void res.writeHead(200).end(lineOf(statusLine()))),
  failingRelay("reports no withdrawal and stops writing", EXPIRY_MS, (relay) => relay.freeze()),
  failingRelay("reports no withdrawal and exits", 0, (relay) => relay.crash()),
  {
    behaviour: "does not report the withdrawal and loses its network",
    additionalMs: EXPIRY_MS,
    start: async (ca, clock) => {
      const relay = await startRelay({ ca, ...clockOption(clock) });
      const proxy = await startBreakableProxy(relay.hostAndPort);
      const causeFault = async () => {
        await relay.untilRequested();
        await (clock?.wait(300) ?? pause(300, "the relay's first response arrives"));
        proxy.breakConnections();
      };
      return { env: relayEnvironment(proxy.hostAndPort, ca), causeFault };
    },
  },
];

export type BreakableProxy = {
  readonly hostAndPort: HostAndPort;
  /** After this call, the proxy does not forward data or the end of a connection in either direction. */
  readonly breakConnections: () => void;
};

async function startBreakableProxy(relay: HostAndPort): Promise<BreakableProxy> {
  let isForwarding = true;
  const server = createServer({ allowHalfOpen: true }, (clientSocket) => {
    if (!isForwarding) return;
    const relaySocket = connect({ host: relay.address, port: relay.port });
    relaySocket.on("error", () => {});
    clientSocket.on("data", (chunk) => (isForwarding ? relaySocket.write(chunk) : undefined));
    relaySocket.on("data", (chunk) => (isForwarding ? clientSocket.write(chunk) : undefined));
    clientSocket.on("close", () => relaySocket.destroy());
    relaySocket.on("close", () => (isForwarding ? clientSocket.destroy() : undefined));
  });
  const hostAndPort = await listenOnOwnAddress(server);
  return {
    hostAndPort: hostAndPort,
    breakConnections: () => {
      isForwarding = false;
    },
  };
}
