/** Tests a manager's image that no node can pull: the first Pods wait, and later Pods start without a manager. */
import { expect, test } from "vitest";
import { inNamespace } from "../client/case-namespace.ts";
import { dryRunCreate, isInjected } from "../client/create-pods.ts";
import { install, OPT_IN } from "../client/installation.ts";
import { APP, appContainer, barePod } from "../client/sample-app.ts";
import { imageOf, readSuite } from "../client/suite.ts";
import { waitUntil } from "../host/wait.ts";

const suite = readSuite(process.env);

test("a namespace whose nodes cannot pull the manager's image gets Pods without a manager, with a warning that contains the reason", async () => {
  const [repository = ""] = imageOf(suite, "lastcall-manager").split(/:(?=[^/]*$)/);
  try {
    await install(suite, {}, "lastcall-manager", { repository, tag: "absent", pullPolicy: "IfNotPresent" });
    await inNamespace(suite, "unpullable", { labels: OPT_IN }, async (namespace) => {
      await namespace.apply([barePod(namespace, "first", [appContainer(namespace)])]);
      expect((await namespace.pods()).map(isInjected)).toEqual([true]);
      const nextPod = barePod(namespace, APP, [appContainer(namespace)]);
      const result = await waitUntil(
        { condition: "the webhook has read the Events", withinMs: 120_000, everyMs: 1_000 },
        async () => {
          const dryRun = await dryRunCreate(namespace.kubectl, [nextPod]);
          return dryRun.pods.some(isInjected) ? undefined : dryRun;
        },
      );
      expect(result.warnings.join("\n")).toContain("nodes cannot pull the manager's image in this namespace");
      await namespace.apply([nextPod]);
      await namespace.kubectl.run(["wait", "--for=condition=Ready", `pod/${APP}`, "--timeout=90s"]);
      await inNamespace(suite, "pullable", { labels: OPT_IN }, async (other) => {
        const otherPod = barePod(other, APP, [appContainer(other)]);
        expect((await dryRunCreate(other.kubectl, [otherPod])).pods.map(isInjected)).toEqual([true]);
      });
    });
  } finally {
    await install(suite);
  }
});
