/** A request over a Unix socket for which the kernel has no room: it ends with a sentence and leaves nothing open. */
import { expect, test } from "vitest";
import type { HttpEnd } from "../../src/manager/http/http-client.ts";
import { streamUnix } from "../../src/manager/http/http-unix.ts";
import type { Libc } from "../../src/manager/ports.ts";

const FD = 7;

/** @param kernel what it does otherwise than a kernel that has room for everything and never answers */
async function asked(kernel: Partial<Libc>) {
  const calls: string[] = [];
  const libc: Libc = {
    available: true,
    socket: () => FD,
    connect: (fd) => {
      calls.push(`connect ${fd}`);
      return 0;
    },
    send: (_fd, bytes) => bytes.length,
    recv: () => -1,
    setsockopt: () => 0,
    close: (fd) => {
      calls.push(`close ${fd}`);
      return 0;
    },
    ...kernel,
  };
  const target = { host: "/admin.sock", port: 0, path: "/stats", selector: "" };
  let returned = false;
  const end = await new Promise<HttpEnd & { returned: boolean }>((done) => {
    streamUnix(
      libc,
      { target, method: "GET", limitMs: 20 },
      () => "",
      (ended) => done({ ...ended, returned }),
    );
    returned = true;
  });
  return { end, calls };
}

test("that gets no socket says so, and connects and closes none", async () => {
  const { end, calls } = await asked({ socket: () => -1 });
  expect(end).toEqual({ status: 0, failure: "no more sockets can be opened", timedOut: false, returned: true });
  expect(calls).toEqual([]);
});

test("of which only a part is taken is broken off: no program answers half a request", async () => {
  const { end, calls } = await asked({ send: (_fd, bytes) => bytes.length - 1 });
  expect(end).toMatchObject({
    status: 0,
    failure: "the connection closed before a complete response",
    timedOut: false,
  });
  expect(calls).toEqual([`connect ${FD}`, `close ${FD}`]);
});

test("where the C library cannot be called says so, and calls nothing", async () => {
  const { end, calls } = await asked({ available: false });
  expect(end).toMatchObject({ status: 0, failure: "Unix sockets are not available", timedOut: false });
  expect(calls).toEqual([]);
});

test("that is never answered ends at its limit and closes its socket", async () => {
  const { end, calls } = await asked({});
  expect(end).toMatchObject({ status: 0, failure: "no complete response within 20 ms", timedOut: true });
  expect(calls).toEqual([`connect ${FD}`, `close ${FD}`]);
});
