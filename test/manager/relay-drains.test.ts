import { afterAll, expect, test } from "vitest";
import { describeBuilds } from "./builds.ts";
import { CREDENTIAL, endRelays, line, RELAY_NAME, startRelay } from "./fake-relay.ts";
import { call, endApp, endManagers, pause, startApp, startManager, statusOf, TOKEN } from "./manager-process.ts";

afterAll(endManagers);
afterAll(endRelays);

const FLAGS = ["--drain-delay=3s", "--quiet-period=300ms", "--drain-timeout=20s", "--app-grace=5s", "--hooks=app:app"];

describeBuilds("a drain with a relay", (build) => {
  test.concurrent("waits beyond its delay until the Pod is out of rotation, and reports it", async () => {
    const relay = await startRelay();
    const manager = await startManager({ build, env: relay.env, flags: FLAGS });
    const app = await startApp(manager.address);
    const own = call(manager, `/${TOKEN}/drain`, "POST");
    await relay.asked();
    await pause(5_000);
    expect((await statusOf(manager))["phase"]).toBe("withdrawing");
    relay.say(line({ state: "out", services: 2 }));
    const report = JSON.parse((await own).body);
    expect(report).toMatchObject({ outcome: "drained", trigger: "hook", relay: "withdrawn" });
    expect(report.withdrawnAfterMs).toBeGreaterThanOrEqual(4_500);
    expect(report.milliseconds.withdrawing).toBeGreaterThanOrEqual(4_500);
    expect(report.why).toMatch(/The Pod was out of rotation after \d/);
    const notice = await relay.reported();
    expect(notice).toMatchObject({ namespace: "shop", pod: "web-0", uid: relay.env["POD_UID"] });
    expect(notice["report"]).toMatchObject({ phase: "done", outcome: "drained", relay: "withdrawn" });
    expect(relay.questions[0]).toEqual({
      path: "/v1/withdrawal",
      authorization: `Lastcall ${CREDENTIAL}`,
      body: { namespace: "shop", pod: "web-0", uid: relay.env["POD_UID"], addresses: ["10.0.0.7", "fd00::7"] },
      servername: RELAY_NAME,
    });
    manager.kill("SIGTERM");
    expect((await manager.ended).code).toBe(0);
    await endApp(app);
  });
});
