import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bindAbstractSocket, leaseLoopbackNetwork } from "../../src/demo/network/loopback-network.ts";
import { eventually } from "../time/eventually.ts";
import { ownAddress } from "./own-address.ts";
import { listenOnOwnPort } from "./own-port.ts";

const LOOPBACK_NETWORK_MODULE = join(import.meta.dirname, "../../src/demo/network/loopback-network.ts");

/** Starts another process, which prints the value of the expression and keeps its leases until it is killed. */
async function evaluateInProcess(
  expression: string,
): Promise<{ readonly child: ChildProcess; readonly output: string }> {
  const source = `import { leaseLoopbackNetwork, bindAbstractSocket } from ${JSON.stringify(LOOPBACK_NETWORK_MODULE)};
    console.log(${expression}); setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = await once(child.stdout, "data");
  return { child, output: String(line).trim() };
}

/** @returns "connected", or the error code of the attempt to connect */
function connectionResult(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.on("connect", () => resolve("connected"));
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
  });
}

test("all leased loopback networks of one or several test processes are distinct", async () => {
  const ownNetworks = Array.from({ length: 50 }, leaseLoopbackNetwork);
  const otherProcesses = await Promise.all(
    Array.from({ length: 4 }, () => evaluateInProcess("Array.from({ length: 50 }, leaseLoopbackNetwork).join()")),
  );
  const networks = [...ownNetworks, ...otherProcesses.flatMap(({ output }) => output.split(","))];
  expect(networks.filter((network) => !/^127\.\d+\.\d+$/.test(network))).toEqual([]);
  expect(new Set(networks).size).toBe(250);
});

test("a reserved address is free again when the test process has exited, even if it was killed", async () => {
  const name = `lastcall-test-${process.pid}`;
  const { child, output } = await evaluateInProcess(`bindAbstractSocket(${JSON.stringify(name)})`);
  expect(output).toBe("true");
  expect(bindAbstractSocket(name)).toBe(false);
  child.kill("SIGKILL");
  await eventually(() => expect(bindAbstractSocket(name)).toBe(true));
  expect(bindAbstractSocket(name)).toBe(false);
});

test("a test process gets as many own loopback addresses as it requests", () => {
  const addresses = Array.from({ length: 600 }, ownAddress);
  expect(new Set(addresses).size).toBe(600);
  expect(addresses.filter((address) => /\.(0|255)$/.test(address))).toEqual([]);
});

test("a leased loopback address refuses connections at every port without a server", async () => {
  const address = ownAddress();
  expect([await connectionResult(address, 1), await connectionResult(address, 8_080)]).toEqual([
    "ECONNREFUSED",
    "ECONNREFUSED",
  ]);
});

test("a released leased port is not assigned to another server of the same process", async () => {
  const server = createServer();
  const port = await listenOnOwnPort(server, "127.0.0.1");
  await new Promise((resolve) => server.close(resolve));
  const otherServers = Array.from({ length: 20 }, () => createServer());
  onTestFinished(() => {
    for (const other of otherServers) other.close();
  });
  const ports = await Promise.all(otherServers.map((other) => listenOnOwnPort(other, "127.0.0.1")));
  expect(new Set([port, ...ports]).size).toBe(21);
  expect(await connectionResult("127.0.0.1", port)).toBe("ECONNREFUSED");
});
