/** Tests changes of the relay's CA and keys while Pods with the earlier CA and keys run and drain. */
import { describe, expect, test } from "vitest";
import { inNamespace } from "../client/case-namespace.ts";
import { managerOf } from "../client/injected-pods.ts";
import { OPT_IN } from "../client/installation.ts";
import { createManualSlice } from "../client/own-slice.ts";
import {
  deleteRelaySecret,
  readCurrentAccess,
  renewRelayIdentity,
  waitForRenewedAccess,
} from "../client/relay-secret.ts";
import { deleteForReport, followApp, startBehindService } from "../client/running-app.ts";
import { APP } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";

const suite = readSuite(process.env);
const NAMESPACE_OPTIONS = { labels: OPT_IN };
const SHORT_DRAIN = { annotations: { "lastcall.dev/drain-delay": "1s", "lastcall.dev/quiet-period": "1s" } };

describe("when the relay's CA and key are renewed", () => {
  test("a running drain continues, and Pods with the earlier or the new key receive their withdrawal", async () => {
    await inNamespace(suite, "relay-renewed", NAMESPACE_OPTIONS, async (namespace) => {
      const before = await readCurrentAccess(namespace);
      const drainingApp = await startBehindService(namespace, SHORT_DRAIN);
      const slice = await createManualSlice(namespace, "slow", drainingApp.pod);
      const pendingReport = deleteForReport(namespace, drainingApp);
      await drainingApp.managerLog.waitFor('"phase":"withdrawing"');
      await namespace.waitForRollout(`deployment/${APP}`);
      const appBeforeRenewal = await followApp(namespace);
      await renewRelayIdentity(namespace);
      const after = await waitForRenewedAccess(namespace, before);
      await slice.setConditions({ ready: false, serving: true, terminating: true });
      expect(await pendingReport).toMatchObject({ outcome: "drained", relay: "withdrawn" });
      expect(await deleteForReport(namespace, appBeforeRenewal)).toMatchObject({
        outcome: "drained",
        relay: "withdrawn",
      });
      await namespace.waitForRollout(`deployment/${APP}`);
      const appAfterRenewal = await followApp(namespace);
      expect(JSON.stringify(managerOf(appAfterRenewal.pod).env)).toContain(after.name);
      expect(await deleteForReport(namespace, appAfterRenewal)).toMatchObject({
        outcome: "drained",
        relay: "withdrawn",
      });
    });
  });
});

describe("when the relay's Secret is deleted", () => {
  test("earlier Pods drain without the relay and report the reason, and later Pods use the relay", async () => {
    await inNamespace(suite, "relay-again", NAMESPACE_OPTIONS, async (namespace) => {
      const before = await readCurrentAccess(namespace);
      const appBeforeRenewal = await startBehindService(namespace, SHORT_DRAIN);
      await deleteRelaySecret(namespace);
      await waitForRenewedAccess(namespace, before);
      const report = await deleteForReport(namespace, appBeforeRenewal);
      expect(report).toMatchObject({ outcome: "drained", trigger: "hook", withdrawnAfterMs: -1 });
      expect(report.relay).toMatch(/^unknown: /);
      expect(report.milliseconds.withdrawing).toBeGreaterThanOrEqual(1_000);
      expect(report.milliseconds.withdrawing).toBeLessThan(5_000);
      await namespace.waitForRollout(`deployment/${APP}`);
      expect(await deleteForReport(namespace, await followApp(namespace))).toMatchObject({
        outcome: "drained",
        relay: "withdrawn",
      });
    });
  });
});
