/** Tests changes of the relay's CA and keys while Pods with the earlier ones run and drain. */
import { describe, expect, test } from "vitest";
import { inNamespace } from "../client/case-namespace.ts";
import { managerOf } from "../client/injected-pods.ts";
import { OPT_IN } from "../client/installation.ts";
import { ownSlice } from "../client/own-slice.ts";
import { currentAccess, lose, renew, renewedAccess } from "../client/relay-secret.ts";
import { deleted, listened, oneBehindService } from "../client/running-app.ts";
import { APP } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";

const suite = readSuite(process.env);
const LABELS = { labels: OPT_IN };
const BRIEF = { annotations: { "lastcall.dev/drain-delay": "1s", "lastcall.dev/quiet-period": "1s" } };

describe("when the relay's CA and key are renewed", () => {
  test("a running drain continues, and Pods with the earlier or the new key receive their withdrawal", async () => {
    await inNamespace(suite, "relay-renewed", LABELS, async (namespace) => {
      const before = await currentAccess(namespace);
      const draining = await oneBehindService(namespace, BRIEF);
      const slice = await ownSlice(namespace, "slow", draining.pod);
      const ended = deleted(namespace, draining);
      await draining.manager.waitFor('"phase":"withdrawing"');
      await namespace.rolledOut(`deployment/${APP}`);
      const early = await listened(namespace);
      await renew(namespace);
      const after = await renewedAccess(namespace, before);
      await slice.set({ ready: false, serving: true, terminating: true });
      expect(await ended).toMatchObject({ outcome: "drained", relay: "withdrawn" });
      expect(await deleted(namespace, early)).toMatchObject({ outcome: "drained", relay: "withdrawn" });
      await namespace.rolledOut(`deployment/${APP}`);
      const late = await listened(namespace);
      expect(JSON.stringify(managerOf(late.pod).env)).toContain(after.name);
      expect(await deleted(namespace, late)).toMatchObject({ outcome: "drained", relay: "withdrawn" });
    });
  });
});

describe("when the relay's Secret is deleted", () => {
  test("earlier Pods drain without the relay and report the reason, and later Pods use the relay", async () => {
    await inNamespace(suite, "relay-again", LABELS, async (namespace) => {
      const before = await currentAccess(namespace);
      const early = await oneBehindService(namespace, BRIEF);
      await lose(namespace);
      await renewedAccess(namespace, before);
      const report = await deleted(namespace, early);
      expect(report).toMatchObject({ outcome: "drained", trigger: "hook", withdrawnAfterMs: -1 });
      expect(report.relay).toMatch(/^unknown: /);
      expect(report.milliseconds.withdrawing).toBeGreaterThanOrEqual(1_000);
      expect(report.milliseconds.withdrawing).toBeLessThan(5_000);
      await namespace.rolledOut(`deployment/${APP}`);
      expect(await deleted(namespace, await listened(namespace))).toMatchObject({
        outcome: "drained",
        relay: "withdrawn",
      });
    });
  });
});
