/** Tests that the guarded port treats all wrong requests in the same way, so the token cannot be guessed in parts. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeBuilds } from "./builds.ts";
import { endManagers, type Manager, startManager, TOKEN } from "./manager-process.ts";
import { exchange } from "./raw-http/exchange.ts";

afterAll(endManagers);

/** @returns everything that the client receives until its connection ends, without the times */
async function readToEnd(manager: Manager, sent: string) {
  const { statuses, rest, error } = await exchange(manager.address, { pieces: [sent] });
  return { statuses, rest, error };
}

const PREFIXES = [`GET /${TOKEN}/`, `POST /${TOKEN}/`].flatMap((whole) =>
  Array.from({ length: whole.length - 1 }, (_, at) => whole.slice(0, at + 1)),
);

describeBuilds("an unauthenticated client at the manager's port", (build) => {
  let manager: Manager;
  beforeAll(async () => {
    manager = await startManager({ build });
  });

  test("is disconnected in the same way after a wrong request and after each prefix of a valid request", async () => {
    const endAfterWrongRequest = await readToEnd(manager, "GET /wrong/status HTTP/1.1\r\n\r\n");
    expect(endAfterWrongRequest).toMatchObject({ statuses: [], rest: "" });
    const ends = await Promise.all(PREFIXES.map(async (prefix) => ({ prefix, ...(await readToEnd(manager, prefix)) })));
    expect(ends).toEqual(PREFIXES.map((prefix) => ({ prefix, ...endAfterWrongRequest })));
  });

  test("gets a response if its first bytes contain the whole token", async () => {
    const { statuses } = await readToEnd(
      manager,
      `GET /${TOKEN}/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    expect(statuses).toEqual([200]);
  });
});
