/** Tests that an exchange over TLS which is closed early does not reset its connection. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:tls";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { makeCaPair, makeServerPair } from "../../src/authority/signing.ts";
import { exchangeOverTls } from "../../src/manager/http/http-client.ts";

// With the real timers, the time limit of close() could expire on a busy host.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout"] }));
afterEach(() => void vi.useRealTimers());

test("close() of an exchange over TLS ends only the writing side, so that the server's last bytes are read", async () => {
  const validity = { fromMs: Date.now() - 60_000, untilMs: Date.now() + 3_600_000 };
  const ca = await makeCaPair("a relay's CA", validity);
  const pair = await makeServerPair(ca, { dns: ["relay"], ip: ["127.0.0.1"] }, validity);
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>();
  const server = createServer({ cert: pair.cert, key: pair.key, allowHalfOpen: true }, (socket) => {
    socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nfirst, "));
    socket.on("end", () => socket.end("last"));
    socket.on("error", () => undefined);
    socket.on("close", onClosed);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  let text = "";
  let isFirst = true;
  const exchange = exchangeOverTls(
    { address: "127.0.0.1", port, serverName: "relay", ca: ca.cert },
    "/",
    { connection: "close" },
    "",
    {
      onStatus: () => undefined,
      onBytes: (chunk) => {
        text += chunk.toString("utf8");
        if (isFirst) exchange.close();
        isFirst = false;
        return "";
      },
      onEnd: () => undefined,
    },
  );
  await closed;
  expect(text).toBe("first, last");
  server.close();
});
