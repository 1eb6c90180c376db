import { expect, test } from "vitest";
import { tokenSource } from "../../src/webhook/admission/token-source.ts";

test("random tokens have 32 hexadecimal characters and never repeat, even after refills of the buffer", () => {
  const createToken = tokenSource();
  const tokens = Array.from({ length: 2_000 }, createToken);
  for (const token of tokens) expect(token).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(tokens).size).toBe(2_000);
  expect(tokens).not.toContain("0".repeat(32));
});
