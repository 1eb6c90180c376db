import { expect, test } from "vitest";
import { eventually, lookingFor } from "./eventually.ts";

const LIMIT_MS = 300;

test("what is there at once is looked at once", async () => {
  let looks = 0;
  const look = () => {
    looks += 1;
    return "there";
  };
  expect([await eventually(look), looks]).toEqual(["there", 1]);
});

test("what comes later is looked for until it is there, by looks that take their time too", async () => {
  let looks = 0;
  const found = await eventually(async () => {
    looks += 1;
    await Promise.resolve();
    expect(looks).toBe(3);
    return looks;
  });
  expect(found).toBe(3);
});

test("what never comes is told as it was seen last, and by the line that waited", async () => {
  let seen = 0;
  const waiting = lookingFor(LIMIT_MS)(() => {
    seen += 1;
    expect("web-0").toBe("web-1");
  });
  const error = await waiting.then(
    () => expect.unreachable(),
    (cause: Error) => cause,
  );
  expect(error.message).toMatch(/^did not come within 0\.3 s; seen last: .*'web-0'.*'web-1'/);
  expect(error.stack).toContain("eventually.test.ts");
  expect(error.cause).toMatchObject({ actual: "web-0" });
  const looks = seen;
  await new Promise((resolve) => setImmediate(resolve));
  expect([looks > 3, seen]).toEqual([true, looks]);
});

test("a look that never ends is given up too", async () => {
  let first = true;
  const look = () => {
    if (!first) return new Promise<void>(() => undefined);
    first = false;
    throw new Error("not yet");
  };
  await expect(lookingFor(LIMIT_MS)(look)).rejects.toThrow("did not come within 0.3 s; seen last: not yet");
  await expect(lookingFor(LIMIT_MS)(look)).rejects.toThrow("seen last: the first look did not end");
});
