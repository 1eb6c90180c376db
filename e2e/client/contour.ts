/** Installs Contour with its own manifests: the real controller, whose Envoys the case adds. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { downloadSource } from "../build/completed-source.ts";
import { makeLayer } from "../images/docker-archive.ts";
import { importEnvoy } from "./envoy-image.ts";
import { importGoPrograms } from "./go-programs.ts";
import { kubectlIn, kubectlOf } from "./kubectl.ts";
import type { Suite } from "./suite.ts";

export const CONTOUR_NAMESPACE = "projectcontour";
export const CONTOUR_VERSION = "1.33.8";

const MODULE_PATH = "github.com/projectcontour/contour";
const MODULE = join(import.meta.dirname, "../modules/contour");
/** The images of the example. */
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
  const baseLayers = [makeLayer([{ path: "tmp", mode: 0o1777, content: undefined }])];
  const program = { program: "contour", user: IMAGE_USER, baseLayers };
  await importGoPrograms(suite, "contour", [
    { ...program, name: CONTOUR_IMAGE },
    { ...program, name: RELEASED_IMAGE },
  ]);
  await importEnvoy(suite, ENVOY_IMAGE, IMAGE_USER);
}

export async function installContour(suite: Suite): Promise<void> {
  const kubectl = kubectlOf(suite);
  for (const file of MANIFESTS) {
    const manifest = readFileSync(join(exampleFolder(), file), "utf8");
    await kubectl.run(["apply", "--server-side", "--force-conflicts", "--filename=-"], manifest);
  }
  const inNamespace = kubectlIn(kubectl, CONTOUR_NAMESPACE);
  await inNamespace.run(["wait", "--for=condition=Complete", "jobs", "--all", "--timeout=120s"]);
  await inNamespace.run(["rollout", "status", "deployment/contour", "--timeout=120s"]);
}

export async function uninstallContour(suite: Suite): Promise<void> {
  const files = [...MANIFESTS].reverse().map((file) => `--filename=${join(exampleFolder(), file)}`);
  await kubectlOf(suite).attempt(["delete", ...files, "--ignore-not-found", "--timeout=120s"]);
}

function exampleFolder(): string {
  return join(downloadSource(MODULE_PATH, MODULE), "examples/contour");
}
