/** Installs a real Knative Serving without an ingress: its controllers with their CRDs, webhooks and RBAC. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { downloadSource } from "../build/completed-source.ts";
import { makeTmpLayer } from "../images/docker-archive.ts";
import { importGoPrograms } from "./go-programs.ts";
import { kubectlIn, kubectlOf } from "./kubectl.ts";
import type { Suite } from "./suite.ts";

const KNATIVE_VERSION = "0.50.0";

const NAMESPACE = "knative-serving";
const MODULE_FOLDER = join(import.meta.dirname, "../modules/knative");
const CONTROLLERS = ["activator", "autoscaler", "controller", "webhook"];
const PROGRAMS = [...CONTROLLERS, "queue"];

export async function importKnative(suite: Suite): Promise<void> {
  const baseLayers = [makeTmpLayer()];
  const images = PROGRAMS.map((program) => ({ name: imageNameOf(program), program, user: "65532:65532", baseLayers }));
  await importGoPrograms(suite, "knative", images);
}

function imageNameOf(program: string): string {
  return `localhost/knative-${program}:v${KNATIVE_VERSION}`;
}

export async function installKnative(suite: Suite): Promise<void> {
  for (const manifest of readManifests())
    await kubectlOf(suite).run(["apply", "--server-side", "--force-conflicts", "--filename=-"], manifest);
  const knativeKubectl = kubectlIn(kubectlOf(suite), NAMESPACE);
  for (const name of CONTROLLERS)
    await knativeKubectl.run(["rollout", "status", `deployment/${name}`, "--timeout=180s"]);
}

export async function uninstallKnative(suite: Suite): Promise<void> {
  const flags = ["--ignore-not-found", "--timeout=120s", "--filename=-"];
  for (const manifest of [...readManifests()].reverse()) await kubectlOf(suite).attempt(["delete", ...flags], manifest);
}

/** Returns Knative's manifests in the order of their installation, with the images of this suite. */
function readManifests(): readonly string[] {
  const folderOf = (name: string) => downloadSource(`knative.dev/${name}`, MODULE_FOLDER);
  const core = join(folderOf("serving"), "config/core");
  const files = [
    join(core, "100-namespace.yaml"),
    ...yamlFilesIn(join(core, "300-resources")),
    ...yamlFilesIn(join(folderOf("networking"), "config")),
    join(folderOf("caching"), "config/image.yaml"),
    join(core, "200-serviceaccount.yaml"),
    ...yamlFilesIn(join(core, "200-roles")),
    ...yamlFilesIn(join(core, "configmaps")),
    join(core, "webhooks/secret.yaml"),
    ...CONTROLLERS.map((name) => join(core, `deployments/${name}.yaml`)),
    ...yamlFilesIn(join(core, "webhooks")),
  ];
  return [...new Set(files)].map((file) => withImages(readFileSync(file, "utf8")));
}

function yamlFilesIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".yaml"))
    .sort()
    .map((name) => join(folder, name));
}

/** The controller would request the digest of the app's image, whose name has no registry, from Docker's registry. */
function withImages(manifest: string): string {
  return manifest
    .replace(/ko:\/\/knative\.dev\/serving\/cmd\/([a-z]+)/g, (_text, program) => imageNameOf(program))
    .replace(/^( +)queue-sidecar-image: .*$/m, "$&\n$1registries-skipping-tag-resolving: index.docker.io");
}
