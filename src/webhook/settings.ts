/** Every setting of the webhook server: its flag, its default, how it is read. The values follow from the rows. */
import { LABEL_LIST_EXPECTS, type Labels, parseLabelList } from "../kubernetes/label-list.ts";
import { PULL_POLICIES, type PullPolicy } from "../kubernetes/pod.ts";
import {
  booleanSetting,
  choiceSetting,
  durationSetting,
  fileSetting,
  HOUR_MS,
  isObjectName,
  nameSetting,
  namespaceSetting,
  portSetting,
  type Setting,
  type ValuesOf,
  waitSetting,
} from "../settings/setting.ts";

export const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** They stand in every Pod. */
export const PULL_SECRETS_LIMIT = 10;

const HOST: Setting<string> = {
  flag: "host",
  shows: "ADDRESS",
  fallback: "",
  fallbackShows: "every address",
  expects: "an IP address or localhost",
  summary: "address to listen on",
  parse: (text) => (/^[0-9A-Za-z.:%-]{1,64}$/.test(text) ? text : undefined),
};

const IMAGE: Setting<string> = {
  flag: "image",
  shows: "IMAGE",
  fallback: "lastcall-manager:0.1.0",
  fallbackShows: "lastcall-manager:0.1.0",
  expects: "an image reference without spaces",
  summary: "image of the manager that Pods get",
  parse: (text) => (/^[\x21-\x7e]{1,512}$/.test(text) ? text : undefined),
};

/** Empty: the API server's default. */
const IMAGE_PULL_POLICY: Setting<PullPolicy | ""> = {
  ...choiceSetting("image-pull-policy", PULL_POLICIES, "Always", "when nodes pull the manager's image"),
  fallback: "",
  fallbackShows: "the API server's, by the image's tag",
};

const IMAGE_PULL_SECRETS: Setting<readonly string[]> = {
  flag: "image-pull-secrets",
  shows: "NAMES",
  fallback: [],
  fallbackShows: "none",
  expects: "names of Secrets with commas between",
  summary: "pull secrets that a Pod with the manager gets beside its own; looked up in the Pod's namespace",
  parse: (text) => {
    const names = text.split(",");
    return names.every(isObjectName) && names.length <= PULL_SECRETS_LIMIT ? [...new Set(names)] : undefined;
  },
};

const KUBE_VERSION: Setting<string> = {
  flag: "kube-version",
  shows: "auto|VERSION",
  fallback: "1.35",
  fallbackShows: "1.35",
  expects: "a Kubernetes version such as 1.35 or v1.31.4, or auto",
  summary: "version of the API server, or auto to ask it; decides whether native sidecars are used",
  parse: (text) => (/^auto$|^v?[0-9]{1,2}\.[0-9]{1,3}\+?([.+-][0-9A-Za-z.+-]*)?$/.test(text) ? text : undefined),
};

export const PROOF_LABELS: Setting<Labels> = {
  flag: "proof-labels",
  shows: "LABELS",
  fallback: {},
  fallbackShows: "none but the one that opts in",
  expects: LABEL_LIST_EXPECTS,
  summary: "labels of those Pods",
  parse: parseLabelList,
};

const RELAY_ADDRESS: Setting<string> = {
  flag: "relay-address",
  shows: "ADDRESS:PORT",
  fallback: "",
  fallbackShows: "none",
  expects: "ADDRESS:PORT in at most 256 printable characters",
  summary: "where Pods find the relay: the IP address and port of the Service",
  // An address that a cluster left out must not stop admissions: Pods then get no relay, and the log has a line.
  parse: (text) => (/^[\x20-\x7e]{0,256}$/.test(text) ? text : undefined),
};

/** In the order of the help. Empty text means: not set. */
export const SETTINGS = {
  port: portSetting("port", 8443, "to let the system choose", "TCP port for HTTPS"),
  host: HOST,
  certificateFile: fileSetting(
    "cert",
    "made in memory",
    "PEM file with the certificate chain, read again when it changes",
  ),
  keyFile: fileSetting("key", "made in memory", "PEM file with the private key"),
  caFile: fileSetting(
    "ca-file",
    "not written",
    "where to write the public CA certificate of a certificate made in memory",
  ),
  clientCaFile: fileSetting(
    "client-ca",
    "none, reviews are taken from everyone",
    "PEM file with the CA of the certificates that API servers show; reviews are taken only with one",
  ),
  caSecret: nameSetting(
    "ca-secret",
    "",
    "Secret in --namespace with the CA that all replicas share; made when missing",
  ),
  caLifeMs: durationSetting(
    "ca-life",
    8_760 * HOUR_MS,
    "how long a CA of --ca-secret is valid; renewed after two thirds",
  ),
  caSettleMs: durationSetting("ca-settle", 60_000, "how long a new CA is in every caBundle before it is used"),
  webhookConfiguration: nameSetting(
    "webhook-configuration",
    "",
    "MutatingWebhookConfiguration whose caBundle is kept right",
  ),
  service: nameSetting("service", "lastcall-webhook", "Service by which the API server calls; part of the certificate"),
  optIn: choiceSetting(
    "opt-in",
    ["label", "all"],
    "label",
    "label: only Pods that carry the label; all: every Pod it is asked about",
  ),
  configFile: fileSetting("config", "none", "YAML file with defaults, profiles and onInvalid"),
  image: IMAGE,
  imagePullPolicy: IMAGE_PULL_POLICY,
  imagePullSecrets: IMAGE_PULL_SECRETS,
  watchPulls: booleanSetting(
    "watch-pulls",
    "true: Events are read, and no manager goes into Pods of a namespace for which nodes cannot pull its image",
  ),
  kubeVersion: KUBE_VERSION,
  cluster: choiceSetting(
    "cluster",
    ["watch", "off"],
    "off",
    "watch: namespaces, nodes and LimitRanges are read from the API server, and Events written to it",
  ),
  kubeconfigFile: fileSetting("kubeconfig", "the account of its own Pod", "how to reach the API server"),
  namespace: namespaceSetting(
    "namespace",
    "lastcall",
    "namespace of the server itself: never injected, and part of its certificate's name",
  ),
  drainDelayMs: waitSetting("drain-delay", 5_000, "how long it keeps serving after SIGTERM"),
  certificateCheckMs: waitSetting("certificate-check", 10_000, "how often the certificate is looked at"),
  enforceConfiguration: nameSetting(
    "enforce-configuration",
    "",
    "MutatingWebhookConfiguration to fill with entries that refuse Pods while no webhook answers, once injection is proven",
  ),
  enforceCopies: nameSetting(
    "enforce-copies",
    "",
    "MutatingWebhookConfiguration whose entries --enforce-configuration gets",
  ),
  proofNamespace: namespaceSetting("proof-namespace", "default", "where dry-run Pods prove that injection works"),
  proofLabels: PROOF_LABELS,
  relaySecret: nameSetting(
    "relay-secret",
    "",
    "Secret in --namespace with the relay's CAs and signing keys; made when missing, none: no relay",
  ),
  relayPort: portSetting("relay-port", 8444, "to let the system choose", "TCP port for Pods that ask the relay"),
  relayAddress: RELAY_ADDRESS,
  relayReadPods: booleanSetting(
    "relay-read-pods",
    "true: the relay reads Pods to tell how much time their deletion gives",
  ),
  adminPort: portSetting("admin-port", 0, "for none", "TCP port for recent drains over plain HTTP, without a password"),
  adminListen: choiceSetting(
    "admin-listen",
    ["loopback", "all"],
    "loopback",
    "loopback: port-forwards alone reach --admin-port; all: every Pod that reaches this one's address",
  ),
  logLevel: choiceSetting("log-level", LOG_LEVELS, "info", "least important line that is logged"),
} as const;

export type WebhookSettings = ValuesOf<typeof SETTINGS>;
