/** Tests that requests over Unix sockets report kernel failures and close their sockets. */
import { expect, test } from "vitest";
import type { HttpEnd } from "../../src/manager/http/http-client.ts";
import { streamUnix } from "../../src/manager/http/http-unix.ts";
import type { Libc } from "../../src/manager/ports.ts";

const FD = 7;

/** @param kernel functions that replace those of the default fake, a kernel that accepts all bytes and never responds */
async function requestWith(kernel: Partial<Libc>) {
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
  let hasReturned = false;
  const end = await new Promise<HttpEnd & { hasReturned: boolean }>((done) => {
    streamUnix(
      libc,
      { target, method: "GET", timeoutMs: 20 },
      () => "",
      (ended) => done({ ...ended, hasReturned }),
    );
    hasReturned = true;
  });
  return { end, calls };
}

test("a request over a Unix socket reports that no socket can be opened, and does not call another function", async () => {
  const { end, calls } = await requestWith({ socket: () => -1 });
  expect(end).toEqual({ status: 0, failure: "no more sockets can be opened", timedOut: false, hasReturned: true });
  expect(calls).toEqual([]);
});

test("a request over a Unix socket is aborted if the kernel accepts only a part of it", async () => {
  const { end, calls } = await requestWith({ send: (_fd, bytes) => bytes.length - 1 });
  expect(end).toMatchObject({
    status: 0,
    failure: "the connection closed before the response was complete",
    timedOut: false,
  });
  expect(calls).toEqual([`connect ${FD}`, `close ${FD}`]);
});

test("a request over a Unix socket reports that the C library cannot be loaded", async () => {
  const { end, calls } = await requestWith({ available: false });
  expect(end).toMatchObject({ status: 0, failure: "Unix sockets are not available", timedOut: false });
  expect(calls).toEqual([]);
});

test("a request over a Unix socket ends at its time limit and closes the socket", async () => {
  const { end, calls } = await requestWith({});
  expect(end).toMatchObject({ status: 0, failure: "no complete response within 20 ms", timedOut: true });
  expect(calls).toEqual([`connect ${FD}`, `close ${FD}`]);
});
