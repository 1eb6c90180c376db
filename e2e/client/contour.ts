/** Installs the real controller of Contour with Contour's own manifests, without the Envoys. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { downloadSource } from "../build/completed-source.ts";
import { makeTmpLayer } from "../images/docker-archive.ts";
import { importEnvoy } from "./envoy-image.ts";
import { importGoPrograms } from "./go-programs.ts";
import { kubectlIn, kubectlOf } from "./kubectl.ts";
import type { Suite } from "./suite.ts";

export const CONTOUR_NAMESPACE = "projectcontour";
export const CONTOUR_VERSION = "1.33.8";

const MODULE_PATH = "github.com/projectcontour/contour";
const MODULE_FOLDER = join(import.meta.dirname, "../modules/contour");
/** The images in the guide's manifest. */
const CONTOUR_IMAGE = "ghcr.io/projectcontour/contour:v1.33.0";
const ENVOY_IMAGE = "docker.io/envoyproxy/envoy:distroless-v1.36.0";
/** The image that Contour's own manifests name. */
const RELEASED_IMAGE = `ghcr.io/projectcontour/contour:v${CONTOUR_VERSION}`;
const IMAGE_USER = "65534:65534";

/** All files of Contour's example except the DaemonSet of Envoys. */
const MANIFESTS = [
  "00-common.yaml",
  "01-contour-config.yaml",
  "01-crds.yaml",
  "02-job-certgen.yaml",
  "02-rbac.yaml",
  "02-role-contour.yaml",
  "02-service-contour.yaml",
  "02-service-envoy.yaml",
  "03-contour.yaml",
];

/** @throws with the reason if Envoy is not available */
export async function importContour(suite: Suite): Promise<void> {
  const baseLayers = [makeTmpLayer()];
  const packedProgram = { program: "contour", user: IMAGE_USER, baseLayers };
  await importGoPrograms(suite, "contour", [
    { ...packedProgram, name: CONTOUR_IMAGE },
    { ...packedProgram, name: RELEASED_IMAGE },
  ]);
  await importEnvoy(suite, ENVOY_IMAGE, IMAGE_USER);
}

export async function installContour(suite: Suite): Promise<void> {
  const kubectl = kubectlOf(suite);
  for (const file of MANIFESTS) {
    const manifest = readFileSync(join(findExampleFolder(), file), "utf8");
    await kubectl.run(["apply", "--server-side", "--force-conflicts", "--filename=-"], manifest);
  }
  const contourKubectl = kubectlIn(kubectl, CONTOUR_NAMESPACE);
  await contourKubectl.run(["wait", "--for=condition=Complete", "jobs", "--all", "--timeout=120s"]);
  await contourKubectl.run(["rollout", "status", "deployment/contour", "--timeout=120s"]);
}

export async function uninstallContour(suite: Suite): Promise<void> {
  const files = [...MANIFESTS].reverse().map((file) => `--filename=${join(findExampleFolder(), file)}`);
  await kubectlOf(suite).attempt(["delete", ...files, "--ignore-not-found", "--timeout=120s"]);
}

function findExampleFolder(): string {
  return join(downloadSource(MODULE_PATH, MODULE_FOLDER), "examples/contour");
}
