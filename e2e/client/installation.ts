/** Installs lastcall on the suite's cluster, with helm from the chart of this work tree. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubernetesListObject, V1Pod } from "@kubernetes/client-node";
import { waitUntil } from "../host/wait.ts";
import { dryRunCreate, isInjected } from "./create-pods.ts";
import { runHelm } from "./helm.ts";
import { kubectlOf } from "./kubectl.ts";
import { RELEASE, RELEASE_NAMESPACE } from "./release.ts";
import { imageOf, type Suite } from "./suite.ts";

/** The label that opts a namespace in. */
export const OPT_IN = { "lastcall.dev/inject": "enabled" } as const;

const CHART = join(import.meta.dirname, "../../charts/lastcall");

/** Values of the chart besides the images, for example `{failurePolicy: "Fail"}`. */
export type ChartValues = Readonly<Record<string, unknown>>;

/** The image with the native manager, and the image with the manager for Node. */
export type ManagerImage = "lastcall-manager" | "lastcall-manager-node";

/**
 * Installs or upgrades lastcall, and waits until every earlier replica is deleted and the API server calls the new replicas.
 * Until then a keep-alive connection of the API server may lead to an earlier replica; and the API server receives the
 * webhook configuration and the Service's endpoints a moment after the replicas are ready.
 */
export async function install(
  suite: Suite,
  values: ChartValues = {},
  manager: ManagerImage = "lastcall-manager",
  managerValues: ChartValues = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-values-"));
  const file = join(folder, "values.json");
  writeFileSync(file, JSON.stringify({ ...values, image: imageValues(suite, manager, managerValues) }));
  try {
    const flags = ["--create-namespace", "--wait", "--timeout=180s", `--values=${file}`, "--reset-values"];
    await runHelm(suite, RELEASE_NAMESPACE, ["upgrade", "--install", RELEASE, CHART, ...flags]);
  } finally {
    rmSync(folder, { recursive: true });
  }
  await waitUntil({ condition: "no earlier replica is terminating", withinMs: 60_000, everyMs: 500 }, async () => {
    const getPods = ["--namespace", RELEASE_NAMESPACE, "get", "pods"];
    const { items } = await kubectlOf(suite).json<KubernetesListObject<V1Pod>>(getPods);
    return items.some(({ metadata }) => metadata?.deletionTimestamp !== undefined) ? undefined : true;
  });
  await waitForInjection(suite);
  if (values["failurePolicy"] === "Fail") await waitForEnforcement(suite);
}

/** Waits until the replicas have set `failurePolicy: Fail`, which they do after they have injected a first Pod. */
export async function waitForEnforcement(suite: Suite): Promise<void> {
  await waitUntil({ condition: "the release enforces failurePolicy Fail", withinMs: 60_000, everyMs: 500 }, async () =>
    (await readEnforcedPolicies(suite)) === "Fail Fail" ? true : undefined,
  );
}

/** Reads the failure policies of the configuration `enforce.lastcall.dev`; empty if it is missing or has no entries yet. */
export function readEnforcedPolicies(suite: Suite): Promise<string> {
  const outputFlag = "--output=jsonpath={.webhooks[*].failurePolicy}";
  const name = "mutatingwebhookconfiguration/enforce.lastcall.dev";
  return kubectlOf(suite).run(["get", name, "--ignore-not-found", outputFlag]);
}

/** Waits until the API server calls restarted replicas: they are ready before the API server's node has their addresses. */
export async function waitForInjection(suite: Suite): Promise<void> {
  await waitUntil({ condition: "the API server calls the webhook", withinMs: 30_000 }, async () => {
    const { pods } = await dryRunCreate(kubectlOf(suite), [PROBE_POD]);
    return pods.every(isInjected) ? true : undefined;
  });
}

/** A Pod for dry runs, which is never stored. */
const PROBE_POD: V1Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "injection-probe", namespace: "default", labels: OPT_IN },
  spec: { containers: [{ name: "app", image: "localhost/never-pulled" }] },
};

export async function uninstall(suite: Suite): Promise<void> {
  await runHelm(suite, RELEASE_NAMESPACE, ["uninstall", RELEASE, "--ignore-not-found", "--wait", "--timeout=120s"]);
  await kubectlOf(suite).run(["delete", "namespace", RELEASE_NAMESPACE, "--ignore-not-found", "--timeout=120s"]);
}

function imageValues(suite: Suite, manager: ManagerImage, otherValues: ChartValues): ChartValues {
  const webhookImage = splitImageName(imageOf(suite, "lastcall-webhook"));
  return { webhook: webhookImage, manager: { ...splitImageName(imageOf(suite, manager)), ...otherValues } };
}

/** Splits `localhost/lastcall-webhook:test` into the chart's values. */
function splitImageName(image: string): { readonly repository: string; readonly tag: string } {
  const colon = image.lastIndexOf(":");
  return { repository: image.slice(0, colon), tag: image.slice(colon + 1) };
}
