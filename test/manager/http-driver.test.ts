import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { DEFAULT_SETTINGS, type DrainSettings } from "../../src/contract/drain-settings.ts";
import { createHttpDriver } from "../../src/manager/drivers/http/http-driver.ts";
import { ownAddress } from "../leases/own-address.ts";

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Starts a server that responds to connection n with text n and closes the connection, or never responds if it is `undefined`. */
async function startServer(responses: readonly (string | undefined)[]): Promise<{ port: number; requests: string[] }> {
  const requests: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (data) => {
      requests.push(data.toString());
      const text = responses[Math.min(requests.length, responses.length) - 1];
      if (text !== undefined) socket.end(text);
    });
    socket.unref();
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0, requests };
}

function responseText(body: string, status = "200 OK"): string {
  return `HTTP/1.1 ${status}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

const createDriver = (overrides: Partial<DrainSettings>) =>
  createHttpDriver({ ...DEFAULT_SETTINGS, driver: "http", ...overrides });

function startDrain(overrides: Partial<DrainSettings>): Promise<string> {
  return new Promise((done) => createDriver(overrides).startDrain(done));
}

function count(overrides: Partial<DrainSettings>): Promise<number> {
  return new Promise((done) => createDriver(overrides).countActive(done));
}

describe("the request to drain-url", () => {
  test("is one POST on a separate connection", async () => {
    const { port, requests } = await startServer([responseText("")]);
    expect(await startDrain({ drainUrl: `http://127.0.0.1:${port}/drain?x=1` })).toBe("");
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatch(/^POST \/drain\?x=1 HTTP\/1\.1\r\n/);
    expect(requests[0]?.toLowerCase()).toContain("connection: close");
  });

  test("is repeated if the app responds with status 503", async () => {
    const { port, requests } = await startServer([responseText("", "503 Busy"), responseText("")]);
    expect(await startDrain({ drainUrl: `http://127.0.0.1:${port}/` })).toBe("");
    expect(requests).toHaveLength(2);
  });

  test("is not repeated if the app responds with status 404", async () => {
    const { port, requests } = await startServer([responseText("", "404 Not Found")]);
    expect(await startDrain({ drainUrl: `http://127.0.0.1:${port}/` })).toContain("status 404");
    expect(requests).toHaveLength(1);
  });

  test("fails after its time limit, and a message contains the reason", async () => {
    const { port } = await startServer([undefined]);
    expect(await startDrain({ drainUrl: `http://127.0.0.1:${port}/` })).toContain("no complete response within");
  });

  test("is not sent if drain-url is not set", async () => {
    expect(await startDrain({})).toBe("");
  });

  test("is not sent if drain-url does not have an address", async () => {
    expect(await startDrain({ drainUrl: "http://app.local/" })).toContain("expected an http URL");
  });
});

describe("the count that active-url returns", () => {
  test("is the number in the response, and the manager counts its own connections to active-url", async () => {
    const { port } = await startServer([responseText('{"active":3}')]);
    const driver = createDriver({ activeUrl: `http://127.0.0.1:${port}/stats#/active` });
    for (const dials of [1, 2]) {
      expect(await new Promise((done) => driver.countActive(done))).toBe(3);
      expect(driver.dialCount()).toBe(dials);
    }
  });

  test.for([
    { title: "an error page", text: responseText("0", "500 Oops") },
    { title: "a redirect", text: responseText("0", "302 Found") },
    { title: "an interrupted response", text: "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n0" },
    { title: "a response that is not HTTP", text: "0\n" },
    { title: "a response beyond the size limit", text: responseText(`0${" ".repeat(70_000)}`) },
    { title: "the time limit without a response", text: undefined },
  ])("is unknown after $title", async ({ text }) => {
    const { port } = await startServer([text]);
    expect(await count({ activeUrl: `http://127.0.0.1:${port}/` })).toBe(-1);
  });

  test("is unknown if no server listens at active-url", async () => {
    expect(await count({ activeUrl: `http://${ownAddress()}:8080/` })).toBe(-1);
  });

  test("is unknown if active-url is not set, and no connection is opened", async () => {
    const driver = createDriver({});
    expect(await new Promise((done) => driver.countActive(done))).toBe(-1);
    expect(driver.dialCount()).toBe(0);
  });
});
