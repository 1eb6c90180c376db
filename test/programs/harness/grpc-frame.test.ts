import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeFrames, encodeFrame } from "./grpc-frame.ts";

test("a gRPC stream is decoded to the encoded messages in order", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" }), { maxLength: 5 }), (messages) => {
      expect(decodeFrames(Buffer.concat(messages.map(encodeFrame)))).toEqual(messages);
    }),
  );
});

test("a gRPC stream is decoded without its incomplete last message", () => {
  const bytes = Buffer.concat([encodeFrame("one"), encodeFrame("two")]);
  for (let end = encodeFrame("one").length; end < bytes.length; end += 1)
    expect(decodeFrames(bytes.subarray(0, end))).toEqual(["one"]);
});
