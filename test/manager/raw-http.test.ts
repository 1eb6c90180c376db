/**
 * Sends raw bytes to the manager's port. `requests.ts` lists the expected statuses, which differ where Node's HTTP parser and that
 * of the native build differ. In every case the manager must close the connection and must not delay the kubelet's calls.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeBuilds } from "./builds.ts";
import { call, endManagers, type Manager, startManager, statusOf, TOKEN } from "./manager-process.ts";
import { exchange } from "./raw-http/exchange.ts";
import { HOSTILE_REQUESTS, type RequestCase, WELL_FORMED_REQUESTS } from "./raw-http/requests.ts";
import { WITHOUT_PORT_GUARD } from "./without-port-guard.ts";

afterAll(endManagers);

describeBuilds("the manager's port", (build) => {
  let manager: Manager;
  beforeAll(async () => {
    manager = await startManager({ build, wrapper: WITHOUT_PORT_GUARD });
  });

  async function check(request: RequestCase): Promise<void> {
    const { expectedStatuses } = request;
    const expected =
      "reason" in expectedStatuses ? expectedStatuses[build.name === "Node" ? "node" : "native"] : expectedStatuses;
    const statusCall = call(manager, `/${TOKEN}/status`);
    const receivedExchange = await exchange(manager.address, request);
    expect((await statusCall).status).toBe(200);
    expect(await statusOf(manager)).toMatchObject({ phase: "idle", trigger: "none" });
    expect({ statuses: receivedExchange.statuses, rest: receivedExchange.rest }).toEqual({
      statuses: expected,
      rest: "",
    });
    if (request.closesWithoutReset === true) expect(receivedExchange.error).toBe("");
  }

  test.concurrent.for([...WELL_FORMED_REQUESTS])("responds to $title with the documented status", (request) =>
    check(request),
  );
  test.concurrent.for([...HOSTILE_REQUESTS])(
    "closes the connection after $title and continues to respond on other connections",
    (request) => check(request),
  );
});
