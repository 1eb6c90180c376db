import fc from "fast-check";
import { expect, test } from "vitest";
import { frame, readFrames } from "./grpc-frame.ts";

test("a gRPC stream is decoded to the encoded messages in order", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" }), { maxLength: 5 }), (messages) => {
      expect(readFrames(Buffer.concat(messages.map(frame)))).toEqual(messages);
    }),
  );
});

test("a gRPC stream is decoded without its incomplete last message", () => {
  const bytes = Buffer.concat([frame("one"), frame("two")]);
  for (let end = frame("one").length; end < bytes.length; end += 1)
    expect(readFrames(bytes.subarray(0, end))).toEqual(["one"]);
});
