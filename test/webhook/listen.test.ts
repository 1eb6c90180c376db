/** Where the webhook and its relay listen, and what they say when they cannot. */
import { EventEmitter } from "node:events";
import type { Server } from "node:net";
import { describe, expect, test } from "vitest";
import { LOOPBACK, openPort } from "../../src/relay/server/open-port.ts";
import { listen } from "../../src/webhook/listen.ts";
import type { WebhookServer } from "../../src/webhook/server.ts";

/** A host on which listening fails at some addresses. */
type Refusals = Readonly<Record<string, string>>;
const FREE = async (): Promise<void> => undefined;
const failure = (code: string) => Object.assign(new Error(code), { code });

function webhookOn(refusals: Refusals, given: unknown = undefined) {
  const asked: string[] = [];
  const app = {
    listen: async ({ host, port }: { readonly host: string; readonly port: number }) => {
      asked.push(`${host} ${port}`);
      const code = refusals[host];
      if (code !== undefined) throw failure(code);
    },
    server: { address: () => (given === undefined ? { address: asked.at(-1)?.split(" ")[0], port: 8_443 } : given) },
  } as unknown as WebhookServer;
  return { app, asked };
}

function relayOn(refusals: Refusals, given: unknown = { port: 8_444 }) {
  const asked: string[] = [];
  const server = Object.assign(new EventEmitter(), {
    listen: ({ host, port }: { readonly host: string; readonly port: number }) => {
      asked.push(`${host} ${port}`);
      const code = refusals[host];
      queueMicrotask(() => (code === undefined ? server.emit("listening") : server.emit("error", failure(code))));
    },
    address: () => given,
  });
  return { server: server as unknown as Server, asked };
}

const EVERYWHERE = ["::"];
describe.for([
  [
    "the webhook",
    async (refusals: Refusals, host: string) => {
      const { app, asked } = webhookOn(refusals);
      await listen(app, host, 8_443, FREE);
      return asked.map((one) => one.split(" ")[0]);
    },
  ],
  [
    "the relay",
    async (refusals: Refusals, host: string) => {
      const { server, asked } = relayOn(refusals);
      await openPort(server, "relay port", host, 8_444);
      return asked.map((one) => one.split(" ")[0]);
    },
  ],
] as const)("%s", ([, opened]) => {
  test("listens at every address where none is given", async () => {
    expect(await opened({}, "")).toEqual(EVERYWHERE);
  });

  test.for(["EAFNOSUPPORT", "EADDRNOTAVAIL"])("listens at those of IPv4 on a node without IPv6 (%s)", async (code) => {
    expect(await opened({ "::": code }, "")).toEqual(["::", "0.0.0.0"]);
  });

  test("does not go on to IPv4 where the port is taken", async () => {
    await expect(opened({ "::": "EADDRINUSE" }, "")).rejects.toMatchObject({ code: "ERR_LISTEN_FAILED" });
  });

  test("listens where it is told, and nowhere else", async () => {
    expect(await opened({}, "10.0.0.9")).toEqual(["10.0.0.9"]);
    await expect(opened({ "::1": "EADDRNOTAVAIL" }, "::1")).rejects.toMatchObject({ code: "ERR_LISTEN_FAILED" });
  });
});

const START = "the server cannot listen on the address asked for: ";
test.for([
  ["", "EADDRINUSE", "port 8443 is in use by another process"],
  ["10.0.0.9", "EADDRINUSE", "port 8443 of 10.0.0.9 is in use by another process"],
  ["", "EACCES", "port 8443 needs more rights than this process has"],
  ["10.0.0.9", "EADDRNOTAVAIL", "10.0.0.9 is no address of this machine"],
  ["nowhere", "ENOTFOUND", "nowhere is no address of this machine"],
  ["", "EMFILE", "port 8443: EMFILE"],
] as const)("the webhook at %j that meets %s says: %s", async ([host, code, words]) => {
  const { app } = webhookOn({ "::": code, [host]: code });
  await expect(listen(app, host, 8_443, FREE)).rejects.toMatchObject({
    code: "ERR_LISTEN_FAILED",
    message: `${START}${words}`,
  });
});

test("the relay names its port and what it met", async () => {
  const { server } = relayOn({ "::": "EACCES" });
  await expect(openPort(server, "relay port", "", 80)).rejects.toThrow(`${START}relay port 80: EACCES`);
});

test("a port on loopback falls back to IPv6 where the node has no IPv4, and to nothing else", async () => {
  const { server, asked } = relayOn({ "127.0.0.1": "EADDRNOTAVAIL" });
  expect(await openPort(server, "admin port", LOOPBACK, 0)).toBe(8_444);
  expect(asked).toEqual(["127.0.0.1 0", "::1 0"]);
  const taken = relayOn({ "127.0.0.1": "EADDRINUSE" });
  await expect(openPort(taken.server, "admin port", LOOPBACK, 81)).rejects.toThrow("admin port 81: EADDRINUSE");
});

test("both tell the address they were given", async () => {
  expect(await listen(webhookOn({}).app, "10.0.0.9", 0, FREE)).toEqual({ host: "10.0.0.9", port: 8_443 });
  expect(await openPort(relayOn({}).server, "relay port", "", 0)).toBe(8_444);
  for (const given of [null, "/run/a.sock"]) {
    await expect(listen(webhookOn({}, given).app, "", 0, FREE)).rejects.toThrow("no address was assigned");
    await expect(openPort(relayOn({}, given).server, "relay port", "", 0)).rejects.toThrow("no address was assigned");
  }
});
