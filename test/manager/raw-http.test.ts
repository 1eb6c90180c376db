/**
 * Bytes on the manager's port. Where the contract speaks, both builds answer the same; where the runtimes' HTTP parsers
 * may judge differently the table says how and why, and both must be harmless: the connection goes and
 * the kubelet is answered meanwhile.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeBuilds } from "./builds.ts";
import { call, endManagers, type Manager, startManager, statusOf, TOKEN } from "./manager-process.ts";
import { exchange } from "./raw-http/exchange.ts";
import { HOSTILE, type Request, WELL_MEANT } from "./raw-http/requests.ts";
import { WITHOUT_PORT_GUARD } from "./without-port-guard.ts";

afterAll(endManagers);

describeBuilds("bytes on the manager's port", (build) => {
  let manager: Manager;
  beforeAll(async () => {
    manager = await startManager({ build, wrapper: WITHOUT_PORT_GUARD });
  });

  async function judge(request: Request): Promise<void> {
    const { answer } = request;
    const expected = "because" in answer ? answer[build.name === "Node" ? "node" : "native"] : answer;
    const meanwhile = call(manager, `/${TOKEN}/status`);
    const seen = await exchange(manager.address, request);
    expect((await meanwhile).status).toBe(200);
    expect(await statusOf(manager)).toMatchObject({ phase: "idle", trigger: "none" });
    expect({ statuses: seen.statuses, rest: seen.rest }).toEqual({ statuses: expected, rest: "" });
    if (request.inOrder === true) expect(seen.error).toBe("");
  }

  test.concurrent.for([...WELL_MEANT])("$says is answered by the contract", (request) => judge(request));
  test.concurrent.for([...HOSTILE])("$says harms no one", (request) => judge(request));
});
