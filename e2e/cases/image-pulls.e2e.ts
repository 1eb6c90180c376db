/** Tests a manager's image that no node can pull: the first Pods wait, and later Pods start without a manager. */
import { expect, test } from "vitest";
import { inNamespace } from "../client/case-namespace.ts";
import { install, OPT_IN } from "../client/installation.ts";
import { APP, appContainer, barePod } from "../client/sample-app.ts";
import { dryRunCreate, isInjected } from "../client/server-answer.ts";
import { imageOf, readSuite } from "../client/suite.ts";
import { waitUntil } from "../host/wait.ts";

const suite = readSuite(process.env);

test("a namespace whose nodes cannot pull the manager's image gets Pods without a manager, with the reason", async () => {
  const [repository = ""] = imageOf(suite, "lastcall-manager").split(/:(?=[^/]*$)/);
  try {
    await install(suite, {}, "lastcall-manager", { repository, tag: "absent", pullPolicy: "IfNotPresent" });
    await inNamespace(suite, "unpullable", { labels: OPT_IN }, async (namespace) => {
      await namespace.apply([barePod(namespace, "first", [appContainer(namespace)])]);
      expect((await namespace.pods()).map(isInjected)).toEqual([true]);
      const next = barePod(namespace, APP, [appContainer(namespace)]);
      const answer = await waitUntil(
        { what: "the webhook has read the Events", withinMs: 120_000, everyMs: 1_000 },
        async () => {
          const asked = await dryRunCreate(namespace.kubectl, [next]);
          return asked.pods.some(isInjected) ? undefined : asked;
        },
      );
      expect(answer.warnings.join("\n")).toContain("nodes cannot pull the manager's image in this namespace");
      await namespace.apply([next]);
      await namespace.kubectl.run(["wait", "--for=condition=Ready", `pod/${APP}`, "--timeout=90s"]);
      await inNamespace(suite, "pullable", { labels: OPT_IN }, async (other) => {
        const elsewhere = barePod(other, APP, [appContainer(other)]);
        expect((await dryRunCreate(other.kubectl, [elsewhere])).pods.map(isInjected)).toEqual([true]);
      });
    });
  } finally {
    await install(suite);
  }
});
