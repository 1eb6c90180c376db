/** Drains a real Envoy over a Unix socket as Contour configures it, with the manager's Node and native builds. */
import { statSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { BUILDS, NODE_BUILD } from "../../manager/builds.ts";
import { endManagers } from "../../manager/manager-process.ts";
import { pause } from "../../time/pause.ts";
import { requireProgram, skipCase } from "../install/program-of.ts";
import { DELAY_MS, openTcpSession, QUIET_MS, readConnectionHeader, startSinglePod } from "./single-pod.ts";

afterAll(endManagers);

const SAMPLING_MS = 500;
const LIMIT_MS = 20_000;
const AS_OTHER_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"];

describe.for(["envoy-1.40", "envoy-1.36"] as const)("an %s with its admin interface on a Unix socket", (name) => {
  test.for(BUILDS)(
    "gets the drain request and reports its requests over the socket to the $name build",
    async (build, context) => {
      if (build.command === "") skipCase(`the ${build.name} build is not on this host`, context);
      const pod = await startSinglePod({ program: await requireProgram(name, context), build, unixSocket: true });
      context.onTestFinished(pod.stop);
      expect(await readConnectionHeader(pod)).toBe("kept");
      // Without a connected client the drain would end with the drain delay.
      const session = await openTcpSession(pod);
      const ending = pod.end();
      await pause(DELAY_MS + 300, "a step of the scenario");
      expect(await readConnectionHeader(pod)).toBe("close");
      session.destroy();
      const end = await ending;
      expect(end).toMatchObject({ status: 200, outcome: "drained" });
      expect(end.why).toContain("no request was active for");
      expect(end.releasedAfterMs).toBeGreaterThan(DELAY_MS + 300 + QUIET_MS - SAMPLING_MS);
      expect(end.releasedAfterMs).toBeLessThan(LIMIT_MS);
    },
  );

  test("refuses a manager that runs as another user, and the manager logs the refusal", async (context) => {
    if (process.getuid?.() !== 0) skipCase("running as another user needs root", context);
    const program = await requireProgram(name, context);
    const pod = await startSinglePod({
      program,
      build: NODE_BUILD,
      unixSocket: true,
      manager: { wrapper: AS_OTHER_USER },
    });
    context.onTestFinished(pod.stop);
    if ("path" in pod.admin) expect(statSync(pod.admin.path).mode & 0o022).toBe(0);
    expect(await pod.end()).toMatchObject({ status: 200, outcome: "drained" });
    const details = pod.manager.lines().map((line) => String(line["detail"]));
    expect(details.join("\n")).toContain("its directory is not accessible");
  });
});
