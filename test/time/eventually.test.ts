import { expect, test } from "vitest";
import { eventually, eventuallyWithin } from "./eventually.ts";

const LIMIT_MS = 300;

test("a check that passes immediately runs once", async () => {
  let checks = 0;
  const check = () => {
    checks += 1;
    return "there";
  };
  expect([await eventually(check), checks]).toEqual(["there", 1]);
});

test("a synchronous or asynchronous check is repeated until it passes", async () => {
  let checks = 0;
  const result = await eventually(async () => {
    checks += 1;
    await Promise.resolve();
    expect(checks).toBe(3);
    return checks;
  });
  expect(result).toBe(3);
});

test("a check that never passes fails with its last error and the line of the test that waited", async () => {
  let checks = 0;
  const timeout = eventuallyWithin(LIMIT_MS)(() => {
    checks += 1;
    expect("web-0").toBe("web-1");
  });
  const error = await timeout.then(
    () => expect.unreachable(),
    (cause: Error) => cause,
  );
  expect(error.message).toMatch(/^did not come within 0\.3 s; seen last: .*'web-0'.*'web-1'/);
  expect(error.stack).toContain("eventually.test.ts");
  expect(error.cause).toMatchObject({ actual: "web-0" });
  const checksAtLimit = checks;
  await new Promise((resolve) => setImmediate(resolve));
  expect([checksAtLimit > 3, checks]).toEqual([true, checksAtLimit]);
});

test("a check that never settles fails at the time limit", async () => {
  let isFirst = true;
  const check = () => {
    if (!isFirst) return new Promise<void>(() => undefined);
    isFirst = false;
    throw new Error("not yet");
  };
  await expect(eventuallyWithin(LIMIT_MS)(check)).rejects.toThrow("did not come within 0.3 s; seen last: not yet");
  await expect(eventuallyWithin(LIMIT_MS)(check)).rejects.toThrow("seen last: the first check did not settle");
});
