import fc from "fast-check";
import { expect, test } from "vitest";
import { readAnswer } from "../../src/demo/load/http-client.ts";

const WITH_LENGTH = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n";
const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\n\r\n\r\n0\r\n\r\n";
const UNTIL_CLOSE = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello";

test("an answer with a length is whole when that many bytes have come", () => {
  expect(readAnswer(WITH_LENGTH, false)).toEqual({ complete: true, status: 200, keepsOpen: true });
});

test("a chunked answer is whole after its last chunk, whatever bytes the chunks hold", () => {
  expect(readAnswer(CHUNKED, false)).toEqual({ complete: true, status: 200, keepsOpen: true });
});

test("an answer without a length is whole only when the server closes", () => {
  expect(readAnswer(UNTIL_CLOSE, false).complete).toBe(false);
  expect(readAnswer(UNTIL_CLOSE, true)).toEqual({ complete: true, status: 200, keepsOpen: false });
});

test("an answer that asks to close does not keep the connection", () => {
  const text = "HTTP/1.1 503 Busy\r\nconnection: Close\r\ncontent-length: 0\r\n\r\n";
  expect(readAnswer(text, false)).toEqual({ complete: true, status: 503, keepsOpen: false });
});

test("an answer in HTTP/1.0 keeps the connection only when it says so", () => {
  const text = "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n";
  expect(readAnswer(text, false)).toEqual({ complete: true, status: 200, keepsOpen: false });
  const kept = text.replace("\r\n\r\n", "\r\nConnection: Keep-Alive\r\n\r\n");
  expect(readAnswer(kept, false)).toEqual({ complete: true, status: 200, keepsOpen: true });
});

test("no beginning of an answer with a length or chunks counts as whole, even when the server closes there", () => {
  for (const answer of [WITH_LENGTH, CHUNKED]) {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: answer.length - 1 }), fc.boolean(), (length, ended) => {
        expect(readAnswer(answer.slice(0, length), ended).complete).toBe(false);
      }),
    );
  }
});
