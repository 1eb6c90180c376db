import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { type ReadBody, readBody } from "../../src/webhook/body-reader.ts";

function read(chunks: readonly Buffer[]): Promise<ReadBody> {
  const source = Readable.from(chunks) as unknown as IncomingMessage;
  return new Promise((resolve) => readBody(source, { keepBytes: 100, discardBytes: 200 }, resolve));
}

test.each(["plain", "значение, 値, 🚪", "\u0000\u007f", "\ufeffmarked", ""])(
  "reads %j as it was written",
  async (text) => {
    const bytes = Buffer.from(text);
    expect(await read([bytes])).toEqual({
      kind: "text",
      text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes),
    });
    // However the network cuts it, in the middle of a letter too.
    expect(await read([...bytes].map((byte) => Buffer.from([byte])))).toEqual({ kind: "text", text });
  },
);
