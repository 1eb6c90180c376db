/** Installs Envoy Gateway with its own Helm chart: the real controller, with a real Envoy as its proxy. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { downloadSource } from "../build/completed-source.ts";
import { makeTmpLayer } from "../images/docker-archive.ts";
import { ENVOY_VERSION, importEnvoy } from "./envoy-image.ts";
import { importGoPrograms } from "./go-programs.ts";
import { runHelm } from "./helm.ts";
import { kubectlOf } from "./kubectl.ts";
import type { Suite } from "./suite.ts";

export const ENVOY_GATEWAY_NAMESPACE = "envoy-gateway-system";
export const ENVOY_GATEWAY_VERSION = "1.9.1";

const MODULE_PATH = "github.com/envoyproxy/gateway";
const MODULE_FOLDER = join(import.meta.dirname, "../modules/envoy-gateway");
const GATEWAY_IMAGE = `docker.io/envoyproxy/gateway:v${ENVOY_GATEWAY_VERSION}`;
export const ENVOY_IMAGE = `docker.io/envoyproxy/envoy:distroless-v${ENVOY_VERSION}`;
/** The user of both images. */
const IMAGE_USER = "65532:65532";
const HELM_RELEASE = "eg";
const PROXY_IMAGE_VALUE = `global.images.envoyProxy.image=${ENVOY_IMAGE}`;

/** @throws with the reason if Envoy is not available */
export async function importEnvoyGateway(suite: Suite): Promise<void> {
  // The shutdown manager writes a file to /tmp, which the base of its own image contains.
  const baseLayers = [makeTmpLayer()];
  const image = { name: GATEWAY_IMAGE, program: "envoy-gateway", user: IMAGE_USER, baseLayers };
  await importGoPrograms(suite, "envoy-gateway", [image]);
  await importEnvoy(suite, ENVOY_IMAGE, IMAGE_USER);
}

/** Installs the chart with its CRDs and the CRDs of the Gateway API, and waits until the controller is ready. */
export async function installEnvoyGateway(suite: Suite): Promise<void> {
  const flags = ["--create-namespace", "--wait", "--timeout=180s", "--values=-", `--set=${PROXY_IMAGE_VALUE}`];
  await runHelm(
    suite,
    ENVOY_GATEWAY_NAMESPACE,
    ["upgrade", "--install", HELM_RELEASE, findChartFolder(), ...flags],
    chartValues(),
  );
}

export async function uninstallEnvoyGateway(suite: Suite): Promise<void> {
  await runHelm(suite, ENVOY_GATEWAY_NAMESPACE, [
    "uninstall",
    HELM_RELEASE,
    "--ignore-not-found",
    "--wait",
    "--timeout=120s",
  ]);
  const crds = join(findChartFolder(), "charts/crds/crds");
  await kubectlOf(suite).attempt([
    "delete",
    "--recursive",
    `--filename=${crds}`,
    "--ignore-not-found",
    "--timeout=60s",
  ]);
}

function findChartFolder(): string {
  return join(downloadSource(MODULE_PATH, MODULE_FOLDER), "charts/gateway-helm");
}

/** Returns the chart's values. The module has only a template of the values file, which the project's release process fills in. */
function chartValues(): string {
  const template = readFileSync(join(findChartFolder(), "values.tmpl.yaml"), "utf8");
  return template
    .replace(/\$\{GatewayImagePullPolicy\}/g, "IfNotPresent")
    .replace(/\$\{GatewayImage\}/g, GATEWAY_IMAGE);
}
