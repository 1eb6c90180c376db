import fc from "fast-check";
import { expect, test } from "vitest";
import { readResponse } from "../../src/demo/load/http-client.ts";

const WITH_LENGTH = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n";
const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\n\r\n\r\n0\r\n\r\n";
const UNTIL_CLOSE = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello";

test("a response with Content-Length is complete when that many bytes were received", () => {
  expect(readResponse(WITH_LENGTH, false)).toEqual({ complete: true, status: 200, keepAlive: true });
});

test("a chunked response is complete after its last chunk, for any bytes in the chunks", () => {
  expect(readResponse(CHUNKED, false)).toEqual({ complete: true, status: 200, keepAlive: true });
});

test("a response without a length is complete when the server closes", () => {
  expect(readResponse(UNTIL_CLOSE, false).complete).toBe(false);
  expect(readResponse(UNTIL_CLOSE, true)).toEqual({ complete: true, status: 200, keepAlive: false });
});

test("a response with Connection: close ends the connection", () => {
  const text = "HTTP/1.1 503 Busy\r\nconnection: Close\r\ncontent-length: 0\r\n\r\n";
  expect(readResponse(text, false)).toEqual({ complete: true, status: 503, keepAlive: false });
});

test("an HTTP/1.0 response keeps the connection only with Connection: keep-alive", () => {
  const text = "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n";
  expect(readResponse(text, false)).toEqual({ complete: true, status: 200, keepAlive: false });
  const withKeepAlive = text.replace("\r\n\r\n", "\r\nConnection: Keep-Alive\r\n\r\n");
  expect(readResponse(withKeepAlive, false)).toEqual({ complete: true, status: 200, keepAlive: true });
});

test("a truncated response with a length or chunks is incomplete, even when the server closes", () => {
  for (const response of [WITH_LENGTH, CHUNKED]) {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: response.length - 1 }), fc.boolean(), (length, ended) => {
        expect(readResponse(response.slice(0, length), ended).complete).toBe(false);
      }),
    );
  }
});
