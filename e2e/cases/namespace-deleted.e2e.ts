/** Tests a deletion of the release's namespace before the release, with `failurePolicy: Fail`. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { dryRunCreate, isInjected } from "../client/create-pods.ts";
import { documentedCommands, runDocumented } from "../client/documented-commands.ts";
import { install, OPT_IN, uninstall } from "../client/installation.ts";
import { kubectlOf } from "../client/kubectl.ts";
import { RELEASE_NAMESPACE } from "../client/release.ts";
import { appContainer, barePod } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";
import { waitUntil } from "../host/wait.ts";

const suite = readSuite(process.env);
const kubectl = kubectlOf(suite);

beforeAll(() => install(suite, { failurePolicy: "Fail" }), 400_000);
afterAll(async () => {
  await uninstall(suite);
  await install(suite);
}, 400_000);

const probePod = (namespace: CaseNamespace) => barePod(namespace, "probe", [appContainer(namespace)]);

const dryRunDeletion = () => kubectl.attempt(["delete", "namespace", RELEASE_NAMESPACE, "--dry-run=server"]);

/** API servers still apply a deleted policy for a short time. */
const waitUntilDeletionAllowed = () =>
  waitUntil({ condition: "the deletion is no longer refused", withinMs: 30_000, everyMs: 10 }, async () =>
    (await dryRunDeletion()).status === 0 ? true : undefined,
  );

test("the API server refuses, with a remedy, to delete lastcall's namespace before its configuration", async () => {
  // API servers apply a new policy with a delay.
  const refusal = await waitUntil({ condition: "the policy is in force", withinMs: 30_000, everyMs: 500 }, async () => {
    const { status, stderr: message } = await dryRunDeletion();
    return status === 0 ? undefined : message;
  });
  expect(refusal).toContain(`helm uninstall lastcall --namespace ${RELEASE_NAMESPACE}`);
});

test("lastcall's namespace can be deleted after its webhook configuration", async () => {
  await kubectl.run(["delete", "mutatingwebhookconfiguration", "enforce.lastcall.dev"]);
  await waitUntilDeletionAllowed();
}, 300_000);

test("after a deletion of lastcall's namespace without its guard, Pod creations fail until the documented remedy is applied", async () => {
  await install(suite, { failurePolicy: "Fail", admissionPolicy: { guards: false } });
  await waitUntilDeletionAllowed();
  await inNamespace(suite, "left-behind", { labels: OPT_IN }, async (namespace) => {
    await kubectl.run(["delete", "namespace", RELEASE_NAMESPACE, "--timeout=120s"]);
    const refusal = await dryRunCreate(namespace.kubectl, [probePod(namespace)]).catch(String);
    namespace.addTimelineLine(`refused: ${refusal}`);
    expect(refusal).toContain('service "lastcall-webhook" not found');
    for (const command of documentedCommands("docs/operations.md", "## When lastcall's namespace was deleted")) {
      namespace.addTimelineLine(`$ ${command}`);
      namespace.addTimelineLine(await runDocumented(suite, command));
    }
    await waitUntil({ condition: "Pods are admitted", withinMs: 30_000 }, async () =>
      (await dryRunCreate(namespace.kubectl, [probePod(namespace)]).catch(() => undefined)) === undefined
        ? undefined
        : true,
    );
    await install(suite);
    expect((await dryRunCreate(namespace.kubectl, [probePod(namespace)])).pods.map(isInjected)).toEqual([true]);
  });
}, 400_000);
