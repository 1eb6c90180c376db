import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ownAddress } from "../leases/own-address.ts";
import { eventually } from "../time/eventually.ts";
import { type Client, FAREWELL, type ManagerSettings, MODE, openScene, PORT, type Scene } from "./scene.ts";

const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const OLD_GET = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
const CHUNKED = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
const UPGRADE = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n";
const EVENTS = GET.replace("/", "/events");
const BODY = "HTTP/1.1 200 OK\r\n\r\n";
const LAST_EVENT = "data: 3\n\n\r\n0\r\n\r\n";
const NODE_SERVER = join(import.meta.dirname, "servers/node-http.ts");

/** Why it is not tried is said by servers.test.ts. */
const hasCompiler = spawnSync("gcc", ["--version"]).status === 0;

let scene: Scene;
beforeAll(async () => {
  if (hasCompiler) scene = await openScene();
});
afterEach(() => scene.endAll());
afterAll(() => scene.close());

const nodeServer = (address: string): readonly string[] => [process.execPath, NODE_SERVER, address, String(PORT)];
const callServer = (address: string, call: string): readonly string[] => [
  scene.compile("servers/calls.c", "gcc"),
  ...[address, String(PORT), call],
];

/** A client of a Node server whose manager already tells clients to leave. */
async function clientOfDrainingNode(): Promise<Client> {
  const address = ownAddress();
  const manager = await scene.openManager();
  await scene.start(nodeServer(address), address);
  await manager.flip(MODE.close);
  return scene.connect(address);
}

describe.skipIf(!hasCompiler)("the preloaded library changes nothing", () => {
  test.for([
    { why: "is switched off by its variable", env: { LASTCALL_PRELOAD: "off" }, pages: 0 },
    { why: "is given a page that could be cut off", settings: { unsealed: true }, pages: 1 },
    { why: "serves another port than the page names", settings: { port: "another" }, pages: 1 },
    { why: "is told to be quiet while it runs", mode: MODE.off, pages: 1 },
  ] as readonly {
    readonly why: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly settings?: ManagerSettings;
    readonly mode?: string;
    readonly pages: number;
  }[])("in a process that $why", async ({ env, settings, mode, pages }) => {
    const address = ownAddress();
    const manager = await scene.openManager(settings);
    await scene.start(nodeServer(address), address, env);
    expect(manager.pages()).toBe(pages);
    const client = await scene.connect(address);
    const before = await client.ask(GET, BODY);
    await manager.flip(MODE.close);
    if (mode !== undefined) await manager.flip(mode);
    expect(await client.ask(GET, BODY)).toBe(before);
  });

  test("in a process that started without a manager", async () => {
    const address = ownAddress();
    await scene.start(nodeServer(address), address);
    const client = await scene.connect(address);
    const before = await client.ask(GET, BODY);
    const manager = await scene.openManager();
    await manager.flip(MODE.close);
    expect(await client.ask(GET, BODY)).toBe(before);
  });

  test("in a process whose manager does not answer, which starts all the same", async () => {
    const address = ownAddress();
    const impatient = await openScene({ isImpatient: true });
    const manager = await impatient.openManager();
    manager.process.kill("SIGSTOP");
    await impatient.start(nodeServer(address), address);
    manager.process.kill("SIGCONT");
    await manager.flip(MODE.close);
    expect(manager.pages()).toBe(0);
    expect(await (await impatient.connect(address)).ask(GET, BODY)).not.toContain(FAREWELL);
    await impatient.close();
  });

  test("for a client of HTTP/1.0", async () => {
    const address = ownAddress();
    const manager = await scene.openManager();
    await scene.start(nodeServer(address), address);
    // The app itself closes after it.
    const before = await (await scene.connect(address)).ask(OLD_GET, BODY);
    await manager.flip(MODE.close);
    expect(await (await scene.connect(address)).ask(OLD_GET, BODY)).toBe(before);
  });

  test("for a request in chunks, and tells the client with the next", async () => {
    const client = await clientOfDrainingNode();
    expect(await client.ask(CHUNKED, BODY)).not.toContain(FAREWELL);
    expect(await client.ask(GET, BODY)).toContain(FAREWELL);
  });

  test("for a client that pipelines, for as long as it is connected", async () => {
    const client = await clientOfDrainingNode();
    client.send(GET + GET);
    await eventually(() => expect(client.received.split("Content-Length")).toHaveLength(3));
    expect(client.received).not.toContain(FAREWELL);
    expect(await client.ask(GET, BODY)).not.toContain(FAREWELL);
  });

  test("in a tunnel, whatever its bytes look like", async () => {
    const client = await clientOfDrainingNode();
    expect(await client.ask(UPGRADE, "Upgrade: echo\r\n\r\n")).not.toContain(FAREWELL);
    expect(await client.ask(GET, BODY)).toBe(BODY);
  });

  test("of the events of a stream but its head", async () => {
    const address = ownAddress();
    const manager = await scene.openManager();
    await scene.start(nodeServer(address), address);
    const client = await scene.connect(address);
    const before = await client.ask(EVENTS, LAST_EVENT);
    await manager.flip(MODE.close);
    const after = await client.ask(EVENTS, LAST_EVENT);
    expect(after).toBe(before.replace("\r\n", `\r\n${FAREWELL}`));
  });

  test("where a second descriptor of the connection answers", async () => {
    const address = ownAddress();
    const manager = await scene.openManager();
    await scene.start(callServer(address, "dup"), address);
    await manager.flip(MODE.close);
    const client = await scene.connect(address);
    expect(await client.ask(GET, BODY)).not.toContain(FAREWELL);
    expect(await client.ask(GET, BODY)).not.toContain(FAREWELL);
  });

  test("for a new connection under the number of one that asked and was closed unseen", async () => {
    const address = ownAddress();
    const manager = await scene.openManager();
    await scene.start(callServer(address, "silent"), address);
    await manager.flip(MODE.close);
    const first = await scene.connect(address);
    first.send(GET);
    await eventually(() => expect(first.isClosed).toBe(true));
    const second = await scene.connect(address);
    await eventually(() => expect(second.received).toMatch(/\r\n\r\n$/));
    expect(second.received).toBe("HTTP/1.1 408 Request Timeout\r\n\r\n");
  });
});
