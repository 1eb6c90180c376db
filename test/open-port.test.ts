/** Tests the addresses on which programs listen, and the messages if they cannot listen. */
import { EventEmitter } from "node:events";
import type { Server } from "node:net";
import { expect, test } from "vitest";
import { LOOPBACK, openPort, type PortWanted } from "../src/open-port.ts";

const failure = (code: string) => Object.assign(new Error(code), { code });

/** Returns a fake server. At the addresses in `codes` it fails to listen, with this error code. */
function serverOn(codes: Readonly<Record<string, string>>, given?: unknown) {
  const hosts: string[] = [];
  const server = Object.assign(new EventEmitter(), {
    listen: ({ host }: { readonly host: string }) => {
      hosts.push(host);
      const code = codes[host];
      queueMicrotask(() => (code === undefined ? server.emit("listening") : server.emit("error", failure(code))));
      return server;
    },
    address: () => (given === undefined ? { address: hosts.at(-1), port: 8_443 } : given),
  });
  return { server: server as unknown as Server, hosts };
}

const wanted = (over: Partial<PortWanted> = {}): PortWanted => ({ name: "", host: "", port: 8_443, ...over });

test("a server without a configured address listens at every address", async () => {
  expect(await openPort(serverOn({}).server, wanted())).toEqual({ host: "::", port: 8_443 });
});

test.for(["EAFNOSUPPORT", "EADDRNOTAVAIL"])("a server on a node without IPv6 listens at IPv4 (%s)", async (code) => {
  expect(await openPort(serverOn({ "::": code }).server, wanted())).toEqual({ host: "0.0.0.0", port: 8_443 });
});

test("a server whose port is in use does not try IPv4", async () => {
  const { server, hosts } = serverOn({ "::": "EADDRINUSE" });
  await expect(openPort(server, wanted())).rejects.toMatchObject({ code: "ERR_LISTEN_FAILED" });
  expect(hosts).toEqual(["::"]);
});

test("a server with a configured address listens only there", async () => {
  expect(await openPort(serverOn({}).server, wanted({ host: "10.0.0.9" }))).toMatchObject({ host: "10.0.0.9" });
  const { server, hosts } = serverOn({ "::1": "EADDRNOTAVAIL" });
  await expect(openPort(server, wanted({ host: "::1" }))).rejects.toMatchObject({ code: "ERR_LISTEN_FAILED" });
  expect(hosts).toEqual(["::1"]);
});

test("a server on loopback tries IPv6 only if the node does not support IPv4", async () => {
  const { server, hosts } = serverOn({ "127.0.0.1": "EADDRNOTAVAIL" });
  await openPort(server, wanted({ host: LOOPBACK, port: 0 }));
  expect(hosts).toEqual(["127.0.0.1", "::1"]);
  const taken = serverOn({ "127.0.0.1": "EADDRINUSE" });
  await expect(openPort(taken.server, wanted({ host: LOOPBACK }))).rejects.toThrow("port 8443 is in use");
});

test("a program with its own listen function tries the addresses in the same order as a Node server", async () => {
  const { server } = serverOn({});
  const hosts: string[] = [];
  const listen = async (host: string) => {
    hosts.push(host);
    if (host === "::") throw failure("EAFNOSUPPORT");
  };
  await openPort(server, wanted({ listen }));
  expect(hosts).toEqual(["::", "0.0.0.0"]);
});

const START = "cannot listen on the configured address: ";
test.for([
  ["", "", "EADDRINUSE", "port 8443 is in use by another process"],
  ["", "10.0.0.9", "EADDRINUSE", "port 8443 of 10.0.0.9 is in use by another process"],
  ["the relay's", "", "EACCES", "the relay's port 8443 requires privileges that this process does not have"],
  ["", "10.0.0.9", "EADDRNOTAVAIL", "10.0.0.9 is not an address of this machine"],
  ["", "nowhere", "ENOTFOUND", "nowhere is not an address of this machine"],
  ["admin", "", "EMFILE", "admin port 8443: EMFILE"],
] as const)("the error of the %s port at %j after %s is: %s", async ([name, host, code, sentence]) => {
  const { server } = serverOn({ "::": code, [host]: code });
  await expect(openPort(server, wanted({ name, host }))).rejects.toMatchObject({
    code: "ERR_LISTEN_FAILED",
    message: `${START}${sentence}`,
  });
});

test.for([null, "/run/a.sock"])("an address() of a server without a port is an error: %j", async (given) => {
  await expect(openPort(serverOn({}, given).server, wanted())).rejects.toThrow("no address was assigned");
});
