/** Replaces the proxies of a gateway by those of its guide's manifest. */
import type { KubernetesObject, V1Container, V1Deployment } from "@kubernetes/client-node";
import { documentsOf, readGuide } from "../../test/guides/manifests.ts";
import { waitUntil } from "../host/wait.ts";
import { type Ending, podSettingsOf } from "./gateway-endings.ts";
import { type Gateway, podsOf } from "./measure-rollout.ts";

type Proxies = Pick<Gateway, "gateway" | "guide" | "kubectl" | "selector" | "deployment">;

/** Resolves when the Pods of an earlier case are deleted, whose drains may last until their deadline. */
export async function deleteProxies(proxies: Proxies): Promise<void> {
  const { gateway, kubectl, deployment } = proxies;
  await kubectl.run(["delete", "deployment", deployment, "--ignore-not-found"]);
  const condition = `no proxy of ${gateway} exists`;
  await waitUntil({ condition, withinMs: 420_000, everyMs: 1_000 }, async () =>
    (await podsOf(proxies)).length === 0 ? true : undefined,
  );
}

/** Applies the guide's manifest with the settings of the ending. @param change changes the containers for the ending */
export async function applyGuideProxies(
  { guide, kubectl, deployment }: Proxies,
  ending: Ending,
  change: (containers: readonly V1Container[]) => void,
): Promise<void> {
  const objects = documentsOf(readGuide(guide).manifest) as readonly (KubernetesObject & V1Deployment)[];
  const items = objects.map((object) => withEnding(object, ending, change));
  const list = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  await kubectl.run(["apply", "--server-side", "--force-conflicts", "--filename=-"], list);
  await kubectl.run(["rollout", "status", `deployment/${deployment}`, "--timeout=180s"]);
}

function withEnding(
  object: V1Deployment,
  ending: Ending,
  change: (containers: readonly V1Container[]) => void,
): V1Deployment {
  const deployment = structuredClone(object);
  const template = deployment.spec?.template;
  if (template?.metadata === undefined || template.spec === undefined)
    throw new Error("The guide's manifest has no Pod template.");
  const settings = podSettingsOf(ending);
  const labels = { ...template.metadata.labels, ...settings.labels };
  template.metadata = { ...template.metadata, ...settings, labels };
  change(template.spec.containers);
  return deployment;
}
