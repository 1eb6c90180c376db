import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { DEFAULT_SETTINGS, type DrainSettings } from "../../src/contract/drain-settings.ts";
import { createHttpDriver } from "../../src/manager/drivers/http/http-driver.ts";
import { ownAddress } from "../leases/own-address.ts";

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A server that answers each connection with the next text, then closes; `undefined` leaves it without an answer. */
async function answering(texts: readonly (string | undefined)[]): Promise<{ port: number; requests: string[] }> {
  const requests: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (data) => {
      requests.push(data.toString());
      const text = texts[Math.min(requests.length, texts.length) - 1];
      if (text !== undefined) socket.end(text);
    });
    socket.unref();
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0, requests };
}

function answer(body: string, status = "200 OK"): string {
  return `HTTP/1.1 ${status}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

const driverOf = (over: Partial<DrainSettings>) => createHttpDriver({ ...DEFAULT_SETTINGS, driver: "http", ...over });

function tell(over: Partial<DrainSettings>): Promise<string> {
  return new Promise((done) => driverOf(over).startDrain(done));
}

function count(over: Partial<DrainSettings>): Promise<number> {
  return new Promise((done) => driverOf(over).countActive(done));
}

describe("telling the app", () => {
  test("posts once, on a connection of its own", async () => {
    const { port, requests } = await answering([answer("")]);
    expect(await tell({ drainUrl: `http://127.0.0.1:${port}/drain?x=1` })).toBe("");
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatch(/^POST \/drain\?x=1 HTTP\/1\.1\r\n/);
    expect(requests[0]?.toLowerCase()).toContain("connection: close");
  });

  test("tries again when the app is not ready for it", async () => {
    const { port, requests } = await answering([answer("", "503 Busy"), answer("")]);
    expect(await tell({ drainUrl: `http://127.0.0.1:${port}/` })).toBe("");
    expect(requests).toHaveLength(2);
  });

  test("takes a refusal for final", async () => {
    const { port, requests } = await answering([answer("", "404 Not Found")]);
    expect(await tell({ drainUrl: `http://127.0.0.1:${port}/` })).toContain("status 404");
    expect(requests).toHaveLength(1);
  });

  test("gives up when no one answers, and says why", async () => {
    const { port } = await answering([undefined]);
    expect(await tell({ drainUrl: `http://127.0.0.1:${port}/` })).toContain("no complete response within");
  });

  test("has nothing to do without a URL", async () => {
    expect(await tell({})).toBe("");
  });

  test("does not dial what is no address", async () => {
    expect(await tell({ drainUrl: "http://app.local/" })).toContain("is not an http URL");
  });
});

describe("asking the app", () => {
  test("reads the count and adds up its own dials", async () => {
    const { port } = await answering([answer('{"active":3}')]);
    const driver = driverOf({ activeUrl: `http://127.0.0.1:${port}/stats#/active` });
    for (const dials of [1, 2]) {
      expect(await new Promise((done) => driver.countActive(done))).toBe(3);
      expect(driver.dials()).toBe(dials);
    }
  });

  test.for([
    { says: "an error page", text: answer("0", "500 Oops") },
    { says: "a redirect", text: answer("0", "302 Found") },
    { says: "an answer that breaks off", text: "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n0" },
    { says: "an answer that is no HTTP", text: "0\n" },
    { says: "an answer that is too long", text: answer(`0${" ".repeat(70_000)}`) },
    { says: "silence", text: undefined },
  ])("is unknown after $says", async ({ text }) => {
    const { port } = await answering([text]);
    expect(await count({ activeUrl: `http://127.0.0.1:${port}/` })).toBe(-1);
  });

  test("is unknown where no one listens", async () => {
    expect(await count({ activeUrl: `http://${ownAddress()}:8080/` })).toBe(-1);
  });

  test("is unknown without a URL, and dials no one", async () => {
    const driver = driverOf({});
    expect(await new Promise((done) => driver.countActive(done))).toBe(-1);
    expect(driver.dials()).toBe(0);
  });
});
