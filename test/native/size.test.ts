import { statSync } from "node:fs";
import { expect, inject, test } from "vitest";

/** The binary contains the TLS client. */
const LIMIT_BYTES = 1024 * 1024;

test.skipIf(inject("nativeManager") === "")("the manager's binary is not larger than 1 MiB", () => {
  expect(statSync(inject("nativeManager")).size).toBeLessThanOrEqual(LIMIT_BYTES);
});
