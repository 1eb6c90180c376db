/** Declares the webhook's settings: flag, default, parser, help text. */
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

export const PULL_SECRETS_LIMIT = 10;

const HOST: Setting<string> = {
  flag: "host",
  placeholder: "ADDRESS",
  fallback: "",
  defaultText: "every address",
  expects: "an IP address or localhost",
  summary: "address to listen on",
  parse: (text) => (/^[0-9A-Za-z.:%-]{1,64}$/.test(text) ? text : undefined),
};

const IMAGE: Setting<string> = {
  flag: "image",
  placeholder: "IMAGE",
  fallback: "lastcall-manager:0.1.0",
  defaultText: "lastcall-manager:0.1.0",
  expects: "an image reference without spaces",
  summary: "image of the manager, which injection adds to Pods",
  parse: (text) => (/^[\x21-\x7e]{1,512}$/.test(text) ? text : undefined),
};

const IMAGE_PULL_POLICY: Setting<PullPolicy | ""> = {
  ...choiceSetting("image-pull-policy", PULL_POLICIES, "Always", "when nodes pull the manager's image"),
  fallback: "",
  defaultText: "chosen by the API server from the image's tag",
};

const IMAGE_PULL_SECRETS: Setting<readonly string[]> = {
  flag: "image-pull-secrets",
  placeholder: "NAMES",
  fallback: [],
  defaultText: "none",
  expects: "names of Secrets, separated by commas",
  summary: "pull secrets added to injected Pods; they have to exist in the Pod's namespace",
  parse: (text) => {
    const names = text.split(",");
    return names.every(isObjectName) && names.length <= PULL_SECRETS_LIMIT ? [...new Set(names)] : undefined;
  },
};

const KUBE_VERSION: Setting<string> = {
  flag: "kube-version",
  placeholder: "auto|VERSION",
  fallback: "1.35",
  defaultText: "1.35",
  expects: "a Kubernetes version such as 1.35 or v1.31.4, or auto",
  summary:
    "version of the API server, or auto to read the version from the API server; decides whether native sidecars are used",
  parse: (text) => (/^auto$|^v?[0-9]{1,2}\.[0-9]{1,3}\+?([.+-][0-9A-Za-z.+-]*)?$/.test(text) ? text : undefined),
};

export const PROOF_LABELS: Setting<Labels> = {
  flag: "proof-labels",
  placeholder: "LABELS",
  fallback: {},
  defaultText: "only the opt-in label",
  expects: LABEL_LIST_EXPECTS,
  summary: "labels of the dry-run Pods in --proof-namespace",
  parse: parseLabelList,
};

const RELAY_ADDRESS: Setting<string> = {
  flag: "relay-address",
  placeholder: "ADDRESS:PORT",
  fallback: "",
  defaultText: "none",
  expects: "ADDRESS:PORT in at most 256 printable characters",
  summary: "IP address and port of the relay's Service",
  // A malformed address must not stop admissions: Pods are then injected without the relay, and a warning is logged.
  parse: (text) => (/^[\x20-\x7e]{0,256}$/.test(text) ? text : undefined),
};

/** In the order of the help text. An empty string means that the setting is not set. */
export const SETTINGS = {
  port: portSetting("port", 8443, "to let the system choose a port", "TCP port for HTTPS"),
  host: HOST,
  certificateFile: fileSetting(
    "cert",
    "generated at start and kept in memory",
    "PEM file with the certificate chain, reloaded when it changes",
  ),
  keyFile: fileSetting("key", "generated at start and kept in memory", "PEM file with the private key of --cert"),
  caFile: fileSetting(
    "ca-file",
    "not written",
    "file to which the CA certificate is written, if the webhook generates its certificate in memory",
  ),
  clientCaFile: fileSetting(
    "client-ca",
    "none: client certificates are not required",
    "PEM file with the CA of client certificates; the webhook refuses reviews from clients without a certificate of this CA",
  ),
  caSecret: nameSetting(
    "ca-secret",
    "",
    "Secret in --namespace with the CA that all replicas share; created when missing",
  ),
  caLifeMs: durationSetting(
    "ca-life",
    8_760 * HOUR_MS,
    "how long a CA of --ca-secret is valid; the next CA is created after two thirds of this time",
  ),
  caSettleMs: durationSetting(
    "ca-settle",
    60_000,
    "how long a new CA is in every caBundle before it signs certificates",
  ),
  webhookConfiguration: nameSetting(
    "webhook-configuration",
    "",
    "MutatingWebhookConfiguration whose caBundle the webhook keeps up to date",
  ),
  service: nameSetting(
    "service",
    "lastcall-webhook",
    "Service through which the API server calls the webhook; its name is part of the certificate",
  ),
  optIn: choiceSetting(
    "opt-in",
    ["label", "all"],
    "label",
    "label: injects Pods that opt in by their label or their namespace's label; all: injects every reviewed Pod that does not opt out",
  ),
  configFile: fileSetting("config", "none", "YAML file with defaults, profiles and onInvalid"),
  image: IMAGE,
  imagePullPolicy: IMAGE_PULL_POLICY,
  imagePullSecrets: IMAGE_PULL_SECRETS,
  watchPulls: booleanSetting(
    "watch-pulls",
    "true: Events are read, and Pods are not injected in namespaces where nodes cannot pull the manager's image",
  ),
  kubeVersion: KUBE_VERSION,
  cluster: choiceSetting(
    "cluster",
    ["watch", "off"],
    "off",
    "watch: read namespaces, nodes and LimitRanges from the API server, and record Events",
  ),
  kubeconfigFile: fileSetting("kubeconfig", "the Pod's ServiceAccount", "kubeconfig file for the API server"),
  namespace: namespaceSetting(
    "namespace",
    "lastcall",
    "namespace of the webhook: its Pods are never injected, and its name is part of the certificate",
  ),
  drainDelayMs: waitSetting("drain-delay", 5_000, "how long the webhook keeps serving after SIGTERM"),
  certificateCheckMs: waitSetting("certificate-check", 10_000, "interval at which certificates are checked"),
  enforceConfiguration: nameSetting(
    "enforce-configuration",
    "",
    "MutatingWebhookConfiguration to which lastcall copies the webhooks of --enforce-copies with failurePolicy Fail, after a dry-run Pod was injected",
  ),
  enforceCopies: nameSetting(
    "enforce-copies",
    "",
    "MutatingWebhookConfiguration whose webhooks lastcall copies to --enforce-configuration, after a dry-run Pod was injected",
  ),
  proofNamespace: namespaceSetting("proof-namespace", "default", "namespace of the dry-run Pods that prove injection"),
  proofLabels: PROOF_LABELS,
  relaySecret: nameSetting(
    "relay-secret",
    "",
    "Secret in --namespace with the relay's CAs and signing keys; created when missing. Not set: no relay",
  ),
  relayPort: portSetting("relay-port", 8444, "to let the system choose a port", "TCP port of the relay"),
  relayAddress: RELAY_ADDRESS,
  relayReadPods: booleanSetting(
    "relay-read-pods",
    "true: the relay reads terminating Pods and sends their managers the grace period of the deletion",
  ),
  adminPort: portSetting("admin-port", 0, "for none", "TCP port for recent drains over HTTP, without authentication"),
  adminListen: choiceSetting(
    "admin-listen",
    ["loopback", "all"],
    "loopback",
    "loopback: --admin-port is reachable by port-forward only; all: also from every Pod",
  ),
  logLevel: choiceSetting("log-level", LOG_LEVELS, "info", "lowest level that is logged"),
} as const;

export type WebhookSettings = ValuesOf<typeof SETTINGS>;
