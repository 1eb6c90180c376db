/** Installs Istio with its own charts: the real istiod, with a sidecar of its real agent and an upstream Envoy. */
import { join } from "node:path";
import { downloadSource } from "../build/completed-source.ts";
import { makeLayer, makeTmpLayer } from "../images/docker-archive.ts";
import { type Content, treeEntries } from "../images/file-tree.ts";
import { librariesOf } from "../images/program-archive.ts";
import { findEnvoy } from "./envoy-image.ts";
import { importGoPrograms } from "./go-programs.ts";
import { runHelm } from "./helm.ts";
import { kubectlIn, kubectlOf } from "./kubectl.ts";
import type { Suite } from "./suite.ts";

/** The date of the module's version; the module has no tags. */
export const ISTIO_VERSION = "1.31 (source of 2026-08-27)";

const ISTIO_NAMESPACE = "istio-system";

const MODULE_PATH = "istio.io/istio";
const MODULE = join(import.meta.dirname, "../modules/istio");
const IMAGES = { hub: "registry.example/istio", tag: "1.31" };
/** The user of both images. */
const IMAGE_USER = "1337:1337";
/** The paths of the proxy and of the template of its configuration in the agent's image. */
const BOOTSTRAP_TEMPLATE = "/var/lib/istio/envoy/envoy_bootstrap_tmpl.json";
const ENVOY_PATH = "/usr/local/bin/envoy";
/** The agent runs nft to redirect the Pod's traffic. */
const NFT = "/usr/sbin/nft";

/**
 * The upstream Envoy does not have the filters of Istio's build, so these settings disable the features that
 * need them: metrics of requests, the exchange of the peers' metadata, and the choice of the application protocol of TLS.
 */
const WITHOUT_OWN_FILTERS = [
  "telemetry.enabled=false",
  "env.PILOT_ENABLE_METADATA_EXCHANGE=false",
  "env.PILOT_ENABLE_ALPN_FILTER=false",
];
/** A retry of the client's proxy would hide a failed request. */
const WITHOUT_RETRIES = ["meshConfig.defaultHttpRetryPolicy.attempts=0"];
/** Less than the charts' defaults, which exceed the capacity of two nodes on a host with two processors. */
const ISTIOD_RESOURCES = ["resources.requests.cpu=50m", "resources.requests.memory=128Mi", "autoscaleEnabled=false"];
const PROXY_RESOURCES = ["global.proxy.resources.requests.cpu=10m", "global.proxy.resources.requests.memory=40Mi"];

/** @throws with the reason if Envoy is not available */
export async function importIstio(suite: Suite): Promise<void> {
  const envoyFile = await findEnvoy();
  const contents: readonly Content[] = [
    { from: envoyFile, to: ENVOY_PATH },
    { from: NFT, to: "/usr/bin/nft" },
    { from: join(sourceFolder(), "tools/packaging/common/envoy_bootstrap.json"), to: BOOTSTRAP_TEMPLATE },
    ...(await librariesOf(envoyFile)),
    ...(await librariesOf(NFT)),
  ];
  const tmpLayer = makeTmpLayer();
  const proxyLayers = [tmpLayer, makeLayer(treeEntries(contents))];
  const name = (image: string) => `${IMAGES.hub}/${image}:${IMAGES.tag}`;
  await importGoPrograms(suite, "istio", [
    { name: name("pilot"), program: "pilot-discovery", user: IMAGE_USER, baseLayers: [tmpLayer] },
    { name: name("proxyv2"), program: "pilot-agent", user: IMAGE_USER, baseLayers: proxyLayers },
  ]);
}

export async function installIstio(suite: Suite): Promise<void> {
  await runHelm(suite, ISTIO_NAMESPACE, [
    "upgrade",
    "--install",
    "istio-base",
    chartFolder("base"),
    "--create-namespace",
    "--wait",
  ]);
  const values = [
    `global.hub=${IMAGES.hub}`,
    `global.tag=${IMAGES.tag}`,
    "global.nativeNftables=true",
    ...WITHOUT_OWN_FILTERS,
    ...WITHOUT_RETRIES,
    ...ISTIOD_RESOURCES,
    ...PROXY_RESOURCES,
  ].map((value) => `--set=${value}`);
  const istiod = ["upgrade", "--install", "istiod", chartFolder("istio-control/istio-discovery")];
  await runHelm(suite, ISTIO_NAMESPACE, [...istiod, ...values, "--wait", "--timeout=180s"]);
}

export async function uninstallIstio(suite: Suite): Promise<void> {
  for (const release of ["istiod", "istio-base"])
    await runHelm(suite, ISTIO_NAMESPACE, ["uninstall", release, "--ignore-not-found", "--wait", "--timeout=120s"]);
  const kubectl = kubectlOf(suite);
  // An interrupted case may have renamed this configuration, so that the uninstallation did not delete it.
  const configurations = ["mutatingwebhookconfigurations", "--selector=app=sidecar-injector"];
  await kubectl.attempt(["delete", ...configurations, "--ignore-not-found"]);
  await kubectl.attempt(["delete", "crds", "--selector=app.kubernetes.io/part-of=istio", "--timeout=60s"]);
  await kubectl.attempt(["delete", "namespace", ISTIO_NAMESPACE, "--ignore-not-found", "--timeout=90s"]);
}

/** Returns istiod's log, which contains the configurations that proxies rejected. */
export async function istiodLog(suite: Suite): Promise<string> {
  const { output } = await kubectlIn(kubectlOf(suite), ISTIO_NAMESPACE).attempt(["logs", "deployment/istiod"]);
  return output;
}

function sourceFolder(): string {
  return downloadSource(MODULE_PATH, MODULE);
}

function chartFolder(name: string): string {
  return join(sourceFolder(), "manifests/charts", name);
}
