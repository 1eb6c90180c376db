/** What a stranger can learn at the guarded port: nothing, however near it comes to the Pod's token. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeBuilds } from "./builds.ts";
import { endManagers, type Manager, startManager, TOKEN } from "./manager-process.ts";
import { exchange } from "./raw-http/exchange.ts";

afterAll(endManagers);

/** All that can be told from outside but for the time. */
async function endOf(manager: Manager, sent: string) {
  const { statuses, rest, error } = await exchange(manager.address, { pieces: [sent] });
  return { statuses, rest, error };
}

const BEGINNINGS = [`GET /${TOKEN}/`, `POST /${TOKEN}/`].flatMap((whole) =>
  Array.from({ length: whole.length - 1 }, (_, at) => whole.slice(0, at + 1)),
);

describeBuilds("a stranger at the manager's port", (build) => {
  let manager: Manager;
  beforeAll(async () => {
    manager = await startManager({ build });
  });

  test("is closed alike for a wrong request and for every beginning of the right one", async () => {
    const wrong = await endOf(manager, "GET /wrong/status HTTP/1.1\r\n\r\n");
    expect(wrong).toMatchObject({ statuses: [], rest: "" });
    const ends = await Promise.all(BEGINNINGS.map(async (begun) => ({ begun, ...(await endOf(manager, begun)) })));
    expect(ends).toEqual(BEGINNINGS.map((begun) => ({ begun, ...wrong })));
  });

  test("is answered where the whole token is in its first bytes", async () => {
    const { statuses } = await endOf(manager, `GET /${TOKEN}/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(statuses).toEqual([200]);
  });
});
