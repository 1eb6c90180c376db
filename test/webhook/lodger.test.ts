/** Two applications on one port, told apart by the name TLS is asked for. */
import { request } from "node:https";
import type { AddressInfo } from "node:net";
import { connect, createSecureContext, type TLSSocket } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { makeCaPair, makeServerPair } from "../../src/certificates/signing.ts";
import { type Lodger, NO_RESUMPTION, toldApart } from "../../src/webhook/lodger.ts";

const LIMIT = { timeout: 180_000 };
const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

const endStreams: (() => void)[] = [];

const LIFE = { fromMs: Date.now() - 3_600_000, untilMs: Date.now() + 86_400_000 };
const LODGER = "relay-a.lastcall.internal";

type House = {
  readonly port: number;
  readonly ca: string;
  readonly lodgerCa: string;
  readonly renew: () => Promise<void>;
  readonly leave: () => void;
  lodges: boolean;
};

async function house(connectionLimit?: number): Promise<House> {
  let leave: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const ca = await makeCaPair("house CA", LIFE);
  const lodgerCa = await makeCaPair("lodger CA", LIFE);
  const pair = await makeServerPair(ca, { dns: ["localhost"], ip: ["127.0.0.1"] }, LIFE);
  const { cert, key } = await makeServerPair(lodgerCa, { dns: [LODGER] }, LIFE);
  const context = createSecureContext({ cert, key });
  const lodger: Lodger = {
    contextFor: async (name) => (name === LODGER && built.lodges ? context : undefined),
    handle: ({ url }, response) => {
      if (url !== "/stream") response.end("lodger");
      else {
        response.write("first");
        endStreams.push(() => response.end());
      }
    },
    gone,
  };
  const server = toldApart(
    { cert: pair.cert, key: pair.key },
    (_request, response) => void response.end("house"),
    lodger,
    connectionLimit,
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const renew = async (): Promise<void> => {
    const next = await makeServerPair(ca, { dns: ["localhost"] }, LIFE);
    server.setSecureContext({ cert: next.cert, key: next.key, ...NO_RESUMPTION });
  };
  const built: House = { port, ca: ca.cert, lodgerCa: lodgerCa.cert, renew, leave, lodges: true };
  return built;
}

type Asking = {
  readonly ca?: string;
  readonly servername?: string;
  readonly session?: Buffer | undefined;
  readonly trusts?: boolean;
  readonly maxVersion?: "TLSv1.2";
};

/** Who answers; or why the client would not speak. */
function answerTo({ port }: House, { trusts = true, ...asking }: Asking): Promise<string> {
  return new Promise((resolve) => {
    const asked = { host: "127.0.0.1", port, path: "/", agent: false as const, rejectUnauthorized: trusts, ...asking };
    const sent = request(asked, (reply) => {
      let text = "";
      reply.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      reply.on("end", () => resolve(text));
    });
    sent.on("error", (error) => resolve(error.message));
    sent.end();
  });
}

test("the lodger's name gets the lodger's certificate and answers", LIMIT, async () => {
  const built = await house();
  expect(await answerTo(built, { ca: built.lodgerCa, servername: LODGER })).toBe("lodger");
});

test("any other name, and none, gets those of the house", LIMIT, async () => {
  const built = await house();
  expect(await answerTo(built, { ca: built.ca, servername: "localhost" })).toBe("house");
  // A client that calls an address names nobody.
  expect(await answerTo(built, { ca: built.ca })).toBe("house");
});

test("a name the lodger does not own never reaches it, whatever the client trusts", LIMIT, async () => {
  const built = await house();
  for (const servername of ["relay-b.lastcall.internal", `x.${LODGER}`, `${LODGER}.x`, "a".repeat(250)])
    expect(await answerTo(built, { servername, trusts: false })).toBe("house");
});

test("a name that the lodger has given up is the house's", LIMIT, async () => {
  const built = await house();
  expect(await answerTo(built, { ca: built.lodgerCa, servername: LODGER })).toBe("lodger");
  built.lodges = false;
  expect(await answerTo(built, { trusts: false, servername: LODGER })).toBe("house");
});

test.for([{ maxVersion: "TLSv1.2" as const }, {}])(
  "a session of an earlier connection leads nobody to the other application, %j",
  LIMIT,
  async (version) => {
    const built = await house();
    for (const [ca, servername] of [
      [built.lodgerCa, LODGER],
      [built.ca, "localhost"],
    ] as const) {
      const session = await sessionOf(built.port, ca, servername, version);
      const asking = { session, trusts: false, ...version };
      expect(await answerTo(built, { servername: LODGER, ...asking })).toBe("lodger");
      expect(await answerTo(built, { servername: "localhost", ...asking })).toBe("house");
    }
  },
);

test("it stays so after the house has changed its certificate", LIMIT, async () => {
  const built = await house();
  await built.renew();
  const version = { maxVersion: "TLSv1.2" as const };
  const session = await sessionOf(built.port, built.lodgerCa, LODGER, version);
  expect(await answerTo(built, { servername: LODGER, session, trusts: false, ...version })).toBe("lodger");
  expect(await answerTo(built, { servername: "localhost", trusts: false })).toBe("house");
});

test("when the lodger is gone its silent connections are cut and those of the house go on", LIMIT, async () => {
  const built = await house();
  const [silent, half, other] = await Promise.all([
    openTo(built, LODGER),
    openTo(built, LODGER, "GET / HTTP/1.1\r\nhost:"),
    openTo(built, "localhost", "GET / HTTP/1.1\r\nhost:"),
  ]);
  built.leave();
  await Promise.all([silent.closed, half.closed]);
  other.socket.write(" a\r\nconnection: close\r\n\r\n");
  expect(await other.closed).toContain("house");
  // Nor does a newcomer hold it up.
  expect(await answerTo(built, { ca: built.lodgerCa, servername: LODGER })).not.toBe("lodger");
});

test("connections on which nobody asks, or nobody asks any more, keep nobody out who does", LIMIT, async () => {
  const built = await house(4);
  const held = [
    await openTo(built, LODGER),
    await openTo(built, LODGER, "GET / HTTP/1.1\r\nhost:"),
    await openTo(built, LODGER, "GET / HTTP/1.1\r\nhost: a\r\n\r\n"),
    await openTo(built, LODGER, "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n"),
  ];
  for (let asked = 0; asked < 8; asked += 1)
    expect(await answerTo(built, { ca: built.lodgerCa, servername: LODGER })).toBe("lodger");
  // The oldest had to go.
  await held[0]?.closed;
});

test("an answer that is under way is not cut for a newcomer", LIMIT, async () => {
  const built = await house(2);
  const streams = await Promise.all([1, 2].map(() => openTo(built, LODGER, "GET /stream HTTP/1.1\r\nhost: a\r\n\r\n")));
  await Promise.all(streams.map(({ begun }) => begun));
  expect(await answerTo(built, { ca: built.lodgerCa, servername: LODGER })).not.toBe("lodger");
  expect(streams.map(({ socket }) => socket.destroyed)).toEqual([false, false]);
  expect(await answerTo(built, { ca: built.ca, servername: "localhost" })).toBe("house");
  // Over, and the connection is kept: it is as good as any other to be cut.
  for (const end of endStreams.splice(0)) end();
  await new Promise((resolve) => setTimeout(resolve, 50));
  for (let asked = 0; asked < 4; asked += 1)
    expect(await answerTo(built, { ca: built.lodgerCa, servername: LODGER })).toBe("lodger");
  expect((await streams[0]?.closed)?.slice(-5)).toBe("0\r\n\r\n");
});

type Open = { readonly socket: TLSSocket; readonly begun: Promise<unknown>; readonly closed: Promise<string> };

/** A connection on which nothing more is said than this. */
function openTo({ port }: House, servername: string, said = ""): Promise<Open> {
  return new Promise((resolve) => {
    const socket: TLSSocket = connect({ host: "127.0.0.1", port, servername, rejectUnauthorized: false }, () => {
      let text = "";
      socket.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      const closed = new Promise<string>((ended) => {
        socket.once("close", () => ended(text));
      });
      const begun = new Promise((heard) => socket.once("data", heard));
      if (said !== "") socket.write(said);
      resolve({ socket, begun, closed });
    });
    socket.on("error", () => undefined);
  });
}

function sessionOf(port: number, ca: string, servername: string, version: object): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({ host: "127.0.0.1", port, ca, servername, ...version }, () => {
      socket.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    });
    let session: Buffer | undefined;
    socket.on("session", (given: Buffer) => {
      session = given;
    });
    socket.on("close", () => resolve(session));
    socket.on("error", reject);
    socket.resume();
  });
}
