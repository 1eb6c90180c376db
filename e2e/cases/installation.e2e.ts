/** Installs, uses and removes lastcall with the documented commands, and compares the cluster before and after. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { VERSION } from "../../src/contract/version.ts";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { dryRunCreate, isInjected } from "../client/create-pods.ts";
import { documentedCommands, runDocumented } from "../client/documented-commands.ts";
import { expectInjectedPods } from "../client/injected-pods.ts";
import { install, OPT_IN, readEnforcedPolicies, uninstall, waitForEnforcement } from "../client/installation.ts";
import { type Kubectl, kubectlOf } from "../client/kubectl.ts";
import { APP, appContainer, barePod, sampleApp } from "../client/sample-app.ts";
import { createSteadily } from "../client/steady-creations.ts";
import { imageOf, readSuite, type Suite } from "../client/suite.ts";
import { MIN_REQUESTS, restartRollout, underLoad } from "../client/under-load.ts";
import { stateFolder } from "../cluster/state-folder.ts";
import { waitUntil } from "../host/wait.ts";
import { tagImage } from "../images/import-images.ts";

const suite = readSuite(process.env);
const kubectl = kubectlOf(suite);
/** Names in the documented commands. */
const [RELEASE, NAMESPACE, SHOP_NAMESPACE] = ["lastcall", "lastcall", "shop"];

// The images have the names of a release, which only the suite's own cluster can import.
describe.skipIf(suite.context !== undefined)("the documentation's commands", () => {
  let objectsBefore: readonly string[] = [];

  beforeAll(async () => {
    await uninstall(suite);
    await tagAsReleased(suite);
    await waitUntil({ condition: "namespaces of other cases are deleted", withinMs: 60_000, everyMs: 500 }, async () =>
      (await kubectl.run(["get", "namespaces"])).includes("Terminating") ? undefined : true,
    );
    objectsBefore = await listObjects(kubectl);
  });

  afterAll(async () => {
    // If the case failed before its uninstallation, the release still exists, and would prevent the suite's own installation.
    await runHelm(["uninstall", RELEASE, "--ignore-not-found", "--wait", "--timeout=120s"]);
    await kubectl.run(["delete", "namespace", NAMESPACE, "--ignore-not-found", "--timeout=120s"]);
    await install(suite);
  });

  test("install lastcall, test it, prevent failed requests, switch the failurePolicy, and remove lastcall completely", async () => {
    await inNamespace(suite, SHOP_NAMESPACE, {}, async (shop) => {
      await shop.apply(sampleApp(shop));
      await shop.waitForRollout(`deployment/${APP}`);
      for (const command of documentedCommands("README.md", "## Install")) {
        shop.addTimelineLine(`$ ${command}`);
        shop.addTimelineLine(await runDocumented(suite, command, { REGISTRY: "localhost" }));
      }
      await shop.waitForTerminations(`app=${APP}`);
      await expectInjectedPods(shop, `app=${APP}`);
      const { requests, failed } = await underLoad(shop, () => restartRollout(shop));
      expect(requests).toBeGreaterThan(MIN_REQUESTS);
      expect(failed).toBe(0);

      const secret = await readCaSecret();
      await switchToFail(shop);
      await runHelm(["rollback", RELEASE, "1", "--wait", "--timeout=120s"]);
      expect(await readEnforcedPolicies(suite)).toBe("");
      expect((await dryRunCreate(shop.kubectl, [probePod(shop)])).pods.map(isInjected)).toEqual([true]);
      await switchToFail(shop);
      expect(await readCaSecret()).toBe(secret);

      await expectNoneRefused(shop, async () => {
        for (const command of documentedCommands("docs/operations.md", "## Uninstall")) {
          shop.addTimelineLine(`$ ${command}`);
          await runDocumented(suite, command);
        }
      });
      expect(await listObjects(kubectl)).toEqual(objectsBefore);
      // Injected Pods still drain; their replacements are not injected.
      await restartRollout(shop);
      await shop.waitForTerminations(`app=${APP}`);
      expect((await shop.pods(`app=${APP}`)).map(isInjected)).toEqual([false, false]);
    });
  });
});

async function switchToFail(shop: CaseNamespace): Promise<void> {
  for (const command of documentedCommands("docs/operations.md", "## Failing closed")) {
    shop.addTimelineLine(`$ ${command}`);
    await runDocumented(suite, command);
  }
  await waitForEnforcement(suite);
}

/** Expects that no Pod is refused during an uninstallation with `Fail`, which must remove the configuration before the webhook. */
async function expectNoneRefused(shop: CaseNamespace, work: () => Promise<void>): Promise<void> {
  await waitUntil({ condition: "Pods are injected", withinMs: 30_000 }, async () =>
    (await dryRunCreate(shop.kubectl, [probePod(shop)])).pods.every(isInjected) ? true : undefined,
  );
  const creations = await createSteadily(suite, { perSecond: 20, pod: probePod(shop), namespace: shop.name });
  try {
    await work();
  } finally {
    const counts = await creations.stop();
    shop.saveArtifact("creations.json", JSON.stringify(counts, null, 2));
    expect([counts.failed, ...counts.failures.filter((line) => line.includes("Z failed: "))]).toEqual([0]);
    expect(counts.missed).toBeGreaterThan(0);
  }
}

function probePod(shop: CaseNamespace) {
  return barePod(shop, "probe", [appContainer(shop)], { labels: OPT_IN });
}

function readCaSecret(): Promise<string> {
  return kubectl.run(["--namespace", NAMESPACE, "get", "secret", "lastcall-ca", "--output=jsonpath={.data}"]);
}

function runHelm(args: readonly string[]): Promise<string> {
  return runDocumented(suite, ["helm", ...args, "--namespace", NAMESPACE].join(" "));
}

/** Matches objects that the comparison excludes: they change by themselves, belong to the case, or are created for a Service. */
const EXCLUDED_OBJECTS =
  /^(Event|IPAddress|Lease|CertificateSigningRequest|PodMetrics|NodeMetrics) |^[A-Za-z]+ shop |^Namespace \S+ shop$/;

/** Lists every object of the cluster as `Kind namespace name`. */
async function listObjects({ run }: Kubectl): Promise<readonly string[]> {
  const resources = (await run(["api-resources", "--verbs=list", "--output=name"])).trim().split("\n");
  const columns = "custom-columns=:kind,:metadata.namespace,:metadata.name";
  const output = await run([
    "get",
    resources.join(","),
    "--all-namespaces",
    "--ignore-not-found",
    `--output=${columns}`,
  ]);
  const lines = output.split("\n").map((line) => line.trim().replaceAll(/ +/g, " "));
  return [...new Set(lines.filter((line) => line !== "" && !EXCLUDED_OBJECTS.test(line)))].sort();
}

/** Tags the images with the names that they have after a push to a registry. */
async function tagAsReleased(ownSuite: Suite): Promise<void> {
  for (const node of ownSuite.nodes) {
    for (const name of ["lastcall-webhook", "lastcall-manager"] as const) {
      await tagImage(stateFolder().socketOf(node), imageOf(ownSuite, name), `localhost/${name}:${VERSION}`);
    }
  }
}
