/** Parses one HTTP/1.1 response incrementally, for sockets without an HTTP library. Ambiguous input is an error. Pure. */

export type HttpResponseReader = {
  /** @returns an error, or "" */
  readonly addBytes: (bytes: Buffer) => string;
  /** Records the end of the stream, which completes a response without a length. */
  readonly endStream: () => void;
  readonly isComplete: () => boolean;
  /** @returns 0 until the response is complete */
  readonly status: () => number;
};

/** Limit for the status line and headers together, and for each line of chunked framing. */
const HEAD_LIMIT_BYTES = 16_384;
const NEWLINE = 10;

type Part = "status" | "headers" | "body" | "to-end" | "chunk-size" | "chunk" | "chunk-end" | "trailers" | "whole";

export function createHttpResponseReader(onBody: (chunk: Buffer) => string): HttpResponseReader {
  let part: Part = "status";
  let status = 0;
  let length = -1;
  let isChunked = false;
  let leftBytes = 0;
  let line = "";
  let headBytes = 0;
  let failure = "";

  const startBody = (): void => {
    // An interim response (1xx) precedes the final response.
    if (status < 200) part = "status";
    else if (status === 204 || status === 304) part = "whole";
    else if (isChunked) part = "chunk-size";
    else if (length < 0) part = "to-end";
    else part = length === 0 ? "whole" : "body";
    leftBytes = Math.max(0, length);
  };

  const handleContentLength = (value: string): void => {
    const isNumber = /^[0-9]{1,15}$/.test(value);
    if (!isNumber || (length >= 0 && length !== Number(value))) failure = "invalid Content-Length";
    length = Number(value);
  };

  const handleHeader = (text: string): void => {
    const colon = text.indexOf(":");
    const name = text.slice(0, Math.max(0, colon)).toLowerCase();
    const value = text.slice(colon + 1).trim();
    if (text === "") startBody();
    else if (colon <= 0) failure = "header without a name";
    else if (name === "content-length") handleContentLength(value);
    else if (name === "transfer-encoding") {
      isChunked = true;
      if (value.toLowerCase() !== "chunked") failure = "unsupported Transfer-Encoding";
    }
  };

  const handleStatusLine = (text: string): void => {
    const match = /^HTTP\/1\.[01] ([1-5][0-9]{2})( |$)/.exec(text);
    if (match === null) failure = "not an HTTP response";
    else {
      status = Number(match[1] ?? "0");
      length = -1;
      isChunked = false;
      part = "headers";
    }
  };

  const handleChunkSize = (text: string): void => {
    const match = /^([0-9a-fA-F]{1,8})[ \t]*(;.*)?$/.exec(text);
    if (match === null) failure = "invalid chunk size";
    leftBytes = match === null ? 0 : Number(`0x${match[1] ?? "0"}`);
    part = leftBytes === 0 ? "trailers" : "chunk";
  };

  const handleChunkEnd = (text: string): void => {
    if (text !== "") failure = "a chunk is longer than its declared size";
    part = "chunk-size";
  };

  const handleLine = (text: string): void => {
    if (part === "status") handleStatusLine(text);
    else if (part === "headers") handleHeader(text);
    else if (part === "chunk-size") handleChunkSize(text);
    else if (part === "chunk-end") handleChunkEnd(text);
    else if (text === "") part = "whole";
  };

  const readLine = (bytes: Buffer, from: number): number => {
    const newline = bytes.indexOf(NEWLINE, from);
    const end = newline < 0 ? bytes.length : newline;
    headBytes = headBytes + end - from;
    if (headBytes > HEAD_LIMIT_BYTES) {
      failure = `the response headers are longer than ${HEAD_LIMIT_BYTES} bytes`;
      return bytes.length;
    }
    line = `${line}${bytes.subarray(from, end).toString("utf8")}`;
    if (newline < 0) return bytes.length;
    const text = line.endsWith("\r") ? line.slice(0, line.length - 1) : line;
    line = "";
    handleLine(text);
    if (part === "chunk-size") headBytes = 0;
    return newline + 1;
  };

  const readBody = (bytes: Buffer, from: number): number => {
    const end = part === "to-end" ? bytes.length : Math.min(bytes.length, from + leftBytes);
    leftBytes = leftBytes - (end - from);
    failure = onBody(bytes.subarray(from, end));
    if (part !== "to-end" && leftBytes <= 0) part = part === "chunk" ? "chunk-end" : "whole";
    return end;
  };

  return {
    addBytes: (bytes) => {
      let at = 0;
      while (at < bytes.length && failure === "" && part !== "whole") {
        const isBody = part === "body" || part === "to-end" || part === "chunk";
        at = isBody ? readBody(bytes, at) : readLine(bytes, at);
      }
      return failure;
    },
    endStream: () => {
      if (part === "to-end") part = "whole";
    },
    isComplete: () => part === "whole" && failure === "",
    status: () => (part === "whole" && failure === "" ? status : 0),
  };
}
