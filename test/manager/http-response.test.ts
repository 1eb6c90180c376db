/** Tests the parser of responses over Unix sockets. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createHttpResponseReader } from "../../src/manager/http/http-response.ts";

type ParsedResponse = {
  readonly status: number;
  readonly body: string;
  readonly failure: string;
  readonly isComplete: boolean;
};

/** @param cuts offsets that divide the bytes into chunks */
function readResponse(text: string, { cuts = [] as readonly number[], isStreamEnded = true } = {}): ParsedResponse {
  const bytes = Buffer.from(text);
  const body: Buffer[] = [];
  const reader = createHttpResponseReader((chunk) => {
    body.push(Buffer.from(chunk));
    return "";
  });
  const offsets = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let failure = "";
  let from = 0;
  for (const to of [...offsets, bytes.length]) {
    if (failure === "") failure = reader.addBytes(bytes.subarray(from, to));
    from = to;
  }
  if (isStreamEnded) reader.endStream();
  return { status: reader.status(), body: Buffer.concat(body).toString(), failure, isComplete: reader.isComplete() };
}

const CHUNKED_HEAD = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const chunkedResponse = (...chunks: readonly string[]) =>
  `${CHUNKED_HEAD}${chunks.map((chunk) => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`).join("")}0\r\n\r\n`;

const RESPONSES = [
  {
    title: "Content-Length",
    text: "HTTP/1.1 200 OK\r\ncontent-length: 4\r\nserver: envoy\r\n\r\nOK 1",
    status: 200,
    body: "OK 1",
  },
  { title: "an empty body", text: "HTTP/1.1 503 \r\ncontent-length: 0\r\n\r\n", status: 503, body: "" },
  { title: "chunked encoding", text: chunkedResponse("one: 1\n", "two: 2\n"), status: 200, body: "one: 1\ntwo: 2\n" },
  { title: "chunks with multi-byte characters", text: chunkedResponse("ä", "漢字"), status: 200, body: "ä漢字" },
  { title: "chunks and trailers", text: `${CHUNKED_HEAD}1;x=y\r\na\r\n0\r\nx: y\r\n\r\n`, status: 200, body: "a" },
  {
    title: "an interim response",
    text: `HTTP/1.1 100 Continue\r\n\r\n${chunkedResponse("a")}`,
    status: 200,
    body: "a",
  },
  { title: "status 204", text: "HTTP/1.1 204 No Content\r\n\r\n", status: 204, body: "" },
] as const;

describe("an HTTP response", () => {
  test.for(RESPONSES)(
    "with $title is parsed to the same result for any division into segments",
    ({ text, status, body }) => {
      fc.assert(
        fc.property(fc.array(fc.nat(1_000), { maxLength: 12 }), (cuts) => {
          expect(readResponse(text, { cuts, isStreamEnded: false })).toEqual({
            status,
            body,
            failure: "",
            isComplete: true,
          });
        }),
      );
    },
  );

  test.for(RESPONSES)("with $title is not complete before its last byte", ({ text }) => {
    for (let length = 0; length < Buffer.byteLength(text); length += 1) {
      const part = Buffer.from(text).subarray(0, length).toString("latin1");
      expect(readResponse(part)).toMatchObject({ status: 0, isComplete: false });
    }
  });

  test("without a Content-Length is complete when the connection ends", () => {
    const text = "HTTP/1.0 200 OK\r\n\r\na: 1\n";
    expect(readResponse(text, { isStreamEnded: false })).toMatchObject({ status: 0, isComplete: false });
    expect(readResponse(text)).toEqual({ status: 200, body: "a: 1\n", failure: "", isComplete: true });
  });

  test.for([
    { title: "another protocol", text: "SSH-2.0-OpenSSH\r\n", failure: "not an HTTP response" },
    { title: "an invalid status", text: "HTTP/1.1 2x0 OK\r\n", failure: "not an HTTP response" },
    {
      title: "a negative Content-Length",
      text: "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n",
      failure: "invalid Content-Length",
    },
    {
      title: "two Content-Length fields",
      text: "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n",
      failure: "invalid Content-Length",
    },
    {
      title: "an unsupported transfer encoding",
      text: "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n",
      failure: "Transfer-Encoding",
    },
    { title: "a header without a name", text: "HTTP/1.1 200 OK\r\n: x\r\n", failure: "header without a name" },
    { title: "a chunk without a size", text: `${CHUNKED_HEAD}\r\n`, failure: "invalid chunk size" },
    {
      title: "a chunk longer than its size",
      text: `${CHUNKED_HEAD}1\r\nab\r\n`,
      failure: "longer than its declared size",
    },
    { title: "an endless line", text: `HTTP/1.1 200 ${"x".repeat(20_000)}`, failure: "longer than 16384 bytes" },
    { title: "endless headers", text: `HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(5_000)}`, failure: "longer than 16384" },
    {
      title: "an endless chunk size",
      text: `${CHUNKED_HEAD}1;${"x".repeat(20_000)}`,
      failure: "longer than 16384 bytes",
    },
  ])("with $title is refused", ({ text, failure }) => {
    const response = readResponse(text);
    expect(response.failure).toContain(failure);
    expect(response).toMatchObject({ status: 0, isComplete: false });
  });

  test("of arbitrary bytes is complete only if it is valid", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        expect(readResponse(text)).toMatchObject({ status: 0, isComplete: false });
      }),
    );
  });

  test("with thousands of chunks does not exceed the limit of the header section", () => {
    const response = chunkedResponse(...Array.from({ length: 5_000 }, () => "abc"));
    expect(readResponse(response)).toMatchObject({ status: 200, isComplete: true });
  });

  test("is not read further after the consumer of its body stopped the read", () => {
    const reader = createHttpResponseReader(() => "enough");
    expect(reader.addBytes(Buffer.from(chunkedResponse("a", "b")))).toBe("enough");
    expect(reader.isComplete()).toBe(false);
  });
});
