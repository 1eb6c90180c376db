import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ownAddress } from "../leases/own-address.ts";
import { eventually } from "../time/eventually.ts";
import {
  CLOSE_HEADER,
  type Client,
  type ManagerSettings,
  MODES,
  openScenario,
  PORT,
  type PreloadScenario,
} from "./preload-scenario.ts";

const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const HTTP_1_0_GET = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
const CHUNKED = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
const UPGRADE = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n";
const EVENTS = GET.replace("/", "/events");
const BODY = "HTTP/1.1 200 OK\r\n\r\n";
const LAST_EVENT = "data: 3\n\n\r\n0\r\n\r\n";
const NODE_SERVER = join(import.meta.dirname, "servers/node-http.ts");

/** Without gcc the tests are skipped; servers.test.ts prints the reason. */
const hasCompiler = spawnSync("gcc", ["--version"]).status === 0;

let scenario: PreloadScenario;
beforeAll(async () => {
  if (hasCompiler) scenario = await openScenario();
});
afterEach(() => scenario.endAll());
afterAll(() => scenario.close());

const nodeCommand = (address: string): readonly string[] => [process.execPath, NODE_SERVER, address, String(PORT)];
const callsCommand = (address: string, call: string): readonly string[] => [
  scenario.compile("servers/calls.c", "gcc"),
  ...[address, String(PORT), call],
];

/** @returns a client of a Node server that is draining */
async function connectToDrainingServer(): Promise<Client> {
  const address = ownAddress();
  const manager = await scenario.openManager();
  await scenario.start(nodeCommand(address), address);
  await manager.setMode(MODES.close);
  return scenario.connect(address);
}

describe.skipIf(!hasCompiler)("the preload library does not change responses", () => {
  test.for([
    { condition: "disables the library by its environment variable", env: { LASTCALL_PRELOAD: "off" }, pageCount: 0 },
    { condition: "receives a shared memory page that can be truncated", settings: { isUnsealed: true }, pageCount: 1 },
    {
      condition: "serves a port that the shared memory page does not list",
      settings: { port: "another" },
      pageCount: 1,
    },
    { condition: "runs while the manager disables the library", mode: MODES.off, pageCount: 1 },
  ] as readonly {
    readonly condition: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly settings?: ManagerSettings;
    readonly mode?: string;
    readonly pageCount: number;
  }[])("in a process that $condition", async ({ env, settings, mode, pageCount }) => {
    const address = ownAddress();
    const manager = await scenario.openManager(settings);
    await scenario.start(nodeCommand(address), address, env);
    expect(manager.countSentPages()).toBe(pageCount);
    const client = await scenario.connect(address);
    const before = await client.request(GET, BODY);
    await manager.setMode(MODES.close);
    if (mode !== undefined) await manager.setMode(mode);
    expect(await client.request(GET, BODY)).toBe(before);
  });

  test("in a process that started without a manager", async () => {
    const address = ownAddress();
    await scenario.start(nodeCommand(address), address);
    const client = await scenario.connect(address);
    const before = await client.request(GET, BODY);
    const manager = await scenario.openManager();
    await manager.setMode(MODES.close);
    expect(await client.request(GET, BODY)).toBe(before);
  });

  test("in a process whose manager does not respond, and delays the process's start only briefly", async () => {
    const address = ownAddress();
    const releasedScenario = await openScenario({ usesReleasedLimits: true });
    const manager = await releasedScenario.openManager();
    manager.process.kill("SIGSTOP");
    await releasedScenario.start(nodeCommand(address), address);
    expect(await (await releasedScenario.connect(address)).request(GET, BODY)).not.toContain(CLOSE_HEADER);
    await releasedScenario.close();
  });

  test("for an HTTP/1.0 client", async () => {
    const address = ownAddress();
    const manager = await scenario.openManager();
    await scenario.start(nodeCommand(address), address);
    // The app itself closes the connection after a response to HTTP/1.0.
    const before = await (await scenario.connect(address)).request(HTTP_1_0_GET, BODY);
    await manager.setMode(MODES.close);
    expect(await (await scenario.connect(address)).request(HTTP_1_0_GET, BODY)).toBe(before);
  });

  test("for a chunked request until it is complete, and adds the header to the next response", async () => {
    const client = await connectToDrainingServer();
    expect(await client.request(CHUNKED, BODY)).not.toContain(CLOSE_HEADER);
    expect(await client.request(GET, BODY)).toContain(CLOSE_HEADER);
  });

  test("for a client that pipelines requests, until the client disconnects", async () => {
    const client = await connectToDrainingServer();
    client.send(GET + GET);
    await eventually(() => expect(client.received.split("Content-Length")).toHaveLength(3));
    expect(client.received).not.toContain(CLOSE_HEADER);
    expect(await client.request(GET, BODY)).not.toContain(CLOSE_HEADER);
  });

  test("on an upgraded connection, for any bytes", async () => {
    const client = await connectToDrainingServer();
    expect(await client.request(UPGRADE, "Upgrade: echo\r\n\r\n")).not.toContain(CLOSE_HEADER);
    expect(await client.request(GET, BODY)).toBe(BODY);
  });

  test("in the body of an event stream", async () => {
    const address = ownAddress();
    const manager = await scenario.openManager();
    await scenario.start(nodeCommand(address), address);
    const client = await scenario.connect(address);
    const before = await client.request(EVENTS, LAST_EVENT);
    await manager.setMode(MODES.close);
    const after = await client.request(EVENTS, LAST_EVENT);
    expect(after).toBe(before.replace("\r\n", `\r\n${CLOSE_HEADER}`));
  });

  test("for a connection whose responses use another descriptor", async () => {
    const address = ownAddress();
    const manager = await scenario.openManager();
    await scenario.start(callsCommand(address, "dup"), address);
    await manager.setMode(MODES.close);
    const client = await scenario.connect(address);
    expect(await client.request(GET, BODY)).not.toContain(CLOSE_HEADER);
    expect(await client.request(GET, BODY)).not.toContain(CLOSE_HEADER);
  });

  test("for a connection that reuses the descriptor of a connection closed by a direct system call", async () => {
    const address = ownAddress();
    const manager = await scenario.openManager();
    await scenario.start(callsCommand(address, "silent"), address);
    await manager.setMode(MODES.close);
    const first = await scenario.connect(address);
    first.send(GET);
    await eventually(() => expect(first.isClosed).toBe(true));
    const second = await scenario.connect(address);
    await eventually(() => expect(second.received).toMatch(/\r\n\r\n$/));
    expect(second.received).toBe("HTTP/1.1 408 Request Timeout\r\n\r\n");
  });
});

test.skipIf(!hasCompiler)(
  "a process whose manager did not respond at the process's start receives the shared memory page with a later connection",
  async () => {
    const address = ownAddress();
    const releasedScenario = await openScenario({ usesReleasedLimits: true });
    const manager = await releasedScenario.openManager();
    manager.process.kill("SIGSTOP");
    await releasedScenario.start(nodeCommand(address), address);
    manager.process.kill("SIGCONT");
    await manager.setMode(MODES.close);
    await eventually(async () => {
      expect(await (await releasedScenario.connect(address)).request(GET, BODY)).toContain(CLOSE_HEADER);
    });
    await releasedScenario.close();
  },
);

test.skipIf(!hasCompiler)(
  "a process with a seccomp filter does not request the shared memory page of a manager that starts later",
  async () => {
    const address = ownAddress();
    const releasedScenario = await openScenario({ usesReleasedLimits: true });
    const manager = await releasedScenario.openManager();
    manager.process.kill("SIGSTOP");
    const server = await releasedScenario.start(callsCommand(address, "filter"), address);
    // If the library requested the page at this connection, the filter would kill the process.
    expect(await (await releasedScenario.connect(address)).request(GET, BODY)).not.toContain(CLOSE_HEADER);
    expect(server.signalCode).toBe(null);
    await releasedScenario.close();
  },
);
