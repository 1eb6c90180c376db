/** Tests a deletion of the release's namespace before the release, with `failurePolicy: Fail`. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { documentedCommands, runDocumented } from "../client/documented-commands.ts";
import { install, OPT_IN, uninstall } from "../client/installation.ts";
import { kubectlOf } from "../client/kubectl.ts";
import { RELEASE_NAMESPACE } from "../client/release.ts";
import { appContainer, barePod } from "../client/sample-app.ts";
import { dryRunCreate, isInjected } from "../client/server-answer.ts";
import { readSuite } from "../client/suite.ts";
import { waitUntil } from "../host/wait.ts";

const suite = readSuite(process.env);
const kubectl = kubectlOf(suite);

beforeAll(() => install(suite, { failurePolicy: "Fail" }), 400_000);
afterAll(async () => {
  await uninstall(suite);
  await install(suite);
}, 400_000);

const asked = (namespace: CaseNamespace) => barePod(namespace, "asked", [appContainer(namespace)]);

const wouldDelete = () => kubectl.attempt(["delete", "namespace", RELEASE_NAMESPACE, "--dry-run=server"]);

/** API servers still apply a deleted policy for a short time. */
const untilAllowed = () =>
  waitUntil({ what: "the deletion is no longer refused", withinMs: 30_000, everyMs: 10 }, async () =>
    (await wouldDelete()).status === 0 ? true : undefined,
  );

test("the API server refuses, with a remedy, to delete lastcall's namespace before its configuration", async () => {
  // API servers apply a new policy with a delay.
  const complaint = await waitUntil({ what: "the policy is in force", withinMs: 30_000, everyMs: 500 }, async () => {
    const { status, stderr: words } = await wouldDelete();
    return status === 0 ? undefined : words;
  });
  expect(complaint).toContain(`helm uninstall lastcall --namespace ${RELEASE_NAMESPACE}`);
});

test("lastcall's namespace can be deleted after its webhook configuration", async () => {
  await kubectl.run(["delete", "mutatingwebhookconfiguration", "enforce.lastcall.dev"]);
  await untilAllowed();
}, 300_000);

test("a forced deletion of lastcall's namespace makes Pods fail until the documented remedy is applied", async () => {
  await install(suite, { failurePolicy: "Fail", admissionPolicy: { guards: false } });
  await untilAllowed();
  await inNamespace(suite, "left-behind", { labels: OPT_IN }, async (namespace) => {
    await kubectl.run(["delete", "namespace", RELEASE_NAMESPACE, "--timeout=120s"]);
    const refusal = await dryRunCreate(namespace.kubectl, [asked(namespace)]).catch(String);
    namespace.addTimelineLine(`refused: ${refusal}`);
    expect(refusal).toContain('service "lastcall-webhook" not found');
    for (const command of documentedCommands("docs/operations.md", "## When lastcall's namespace was deleted")) {
      namespace.addTimelineLine(`$ ${command}`);
      namespace.addTimelineLine(await runDocumented(suite, command));
    }
    await waitUntil({ what: "Pods are admitted", withinMs: 30_000 }, async () =>
      (await dryRunCreate(namespace.kubectl, [asked(namespace)]).catch(() => undefined)) === undefined
        ? undefined
        : true,
    );
    await install(suite);
    expect((await dryRunCreate(namespace.kubectl, [asked(namespace)])).pods.map(isInjected)).toEqual([true]);
  });
}, 400_000);
