import fc from "fast-check";
import { expect, test } from "vitest";
import { ipv4Text } from "../../src/manager/sockets/address-text.ts";

test("an address has the same text however many others were asked for in between", () => {
  const byte = fc.integer({ min: 0, max: 255 });
  // Few different bytes, so that many addresses meet in one place of the memory.
  const address = fc.tuple(fc.constantFrom(10, 127, 255), fc.constantFrom(0, 1, 2), fc.constantFrom(0, 1, 2), byte);
  fc.assert(
    fc.property(fc.array(address, { minLength: 1, maxLength: 60 }), (addresses) => {
      for (const [a, b, c, d] of addresses) {
        const word = a * 16_777_216 + b * 65_536 + c * 256 + d;
        expect(ipv4Text(word)).toBe(`${a}.${b}.${c}.${d}`);
      }
    }),
  );
});
