/** Every setting of the webhook server, once: its flag, its default, how it is read. Nothing here touches the environment. */
import { isNamespaceName } from "../kubernetes/names.ts";
import { PULL_POLICIES, type PullPolicy } from "../kubernetes/pod.ts";
import { ENFORCEMENT_SETTINGS, type EnforcementSettings } from "./enforcement-settings.ts";
import { RELAY_SETTINGS, type RelaySettings } from "./relay-settings.ts";
import {
  durationSetting,
  fileSetting,
  HOUR_MS,
  isObjectName,
  nameSetting,
  portSetting,
  type Setting,
  switchSetting,
  waitSetting,
} from "./setting-kinds.ts";

export const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Empty text means: not set. */
export type WebhookSettings = RelaySettings &
  EnforcementSettings & {
    /** 0 lets the system choose; the log says which. */
    readonly port: number;
    readonly host: string;
    readonly certificateFile: string;
    readonly keyFile: string;
    readonly caFile: string;
    /** Who may send reviews; empty: everyone. */
    readonly clientCaFile: string;
    /** Secret with the CA that all replicas share. */
    readonly caSecret: string;
    readonly caLifeMs: number;
    readonly caSettleMs: number;
    /** MutatingWebhookConfiguration whose caBundle is kept right. */
    readonly webhookConfiguration: string;
    readonly service: string;
    readonly optIn: "label" | "all";
    readonly configFile: string;
    readonly image: string;
    /** Empty: the API server's default. */
    readonly imagePullPolicy: PullPolicy | "";
    readonly imagePullSecrets: readonly string[];
    /** Whether Events are read that tell of pulls of the manager's image. */
    readonly watchPulls: boolean;
    /** A version, or `auto`: the API server is asked. */
    readonly kubeVersion: string;
    /** `watch`: the API server tells about namespaces, nodes and LimitRanges, and gets Events. */
    readonly cluster: "watch" | "off";
    readonly kubeconfigFile: string;
    readonly namespace: string;
    readonly drainDelayMs: number;
    readonly certificateCheckMs: number;
    readonly logLevel: LogLevel;
  };

/** They stand in every Pod. */
export const PULL_SECRETS_LIMIT = 10;

export const SETTINGS: { readonly [K in keyof WebhookSettings]: Setting<WebhookSettings[K]> } = {
  port: portSetting("port", 8443, "to let the system choose", "TCP port for HTTPS"),
  host: {
    flag: "host",
    shows: "ADDRESS",
    fallback: "",
    fallbackShows: "every address",
    expects: "an IP address or localhost",
    summary: "address to listen on",
    parse: (text) => (/^[0-9A-Za-z.:%-]{1,64}$/.test(text) ? text : undefined),
  },
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
  optIn: {
    flag: "opt-in",
    shows: "label|all",
    fallback: "label",
    fallbackShows: "label",
    expects: "one of label, all",
    summary: "label: only Pods that carry the label; all: every Pod it is asked about",
    parse: (text) => (text === "label" || text === "all" ? text : undefined),
  },
  configFile: fileSetting("config", "none", "YAML file with defaults, profiles and onInvalid"),
  image: {
    flag: "image",
    shows: "IMAGE",
    fallback: "lastcall-manager:0.1.0",
    fallbackShows: "lastcall-manager:0.1.0",
    expects: "an image reference without spaces",
    summary: "image of the manager that Pods get",
    parse: (text) => (/^[\x21-\x7e]{1,512}$/.test(text) ? text : undefined),
  },
  imagePullPolicy: {
    flag: "image-pull-policy",
    shows: PULL_POLICIES.join("|"),
    fallback: "",
    fallbackShows: "the API server's, by the image's tag",
    expects: `one of ${PULL_POLICIES.join(", ")}`,
    summary: "when nodes pull the manager's image",
    parse: (text) => PULL_POLICIES.find((policy) => policy === text),
  },
  imagePullSecrets: {
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
  },
  watchPulls: switchSetting(
    "watch-pulls",
    "true: Events are read, and no manager goes into Pods of a namespace for which nodes cannot pull its image",
  ),
  kubeVersion: {
    flag: "kube-version",
    shows: "auto|VERSION",
    fallback: "1.35",
    fallbackShows: "1.35",
    expects: "a Kubernetes version such as 1.35 or v1.31.4, or auto",
    summary: "version of the API server, or auto to ask it; decides whether native sidecars are used",
    parse: (text) => (/^auto$|^v?[0-9]{1,2}\.[0-9]{1,3}\+?([.+-][0-9A-Za-z.+-]*)?$/.test(text) ? text : undefined),
  },
  cluster: {
    flag: "cluster",
    shows: "watch|off",
    fallback: "off",
    fallbackShows: "off",
    expects: "one of watch, off",
    summary: "watch: namespaces, nodes and LimitRanges are read from the API server, and Events written to it",
    parse: (text) => (text === "watch" || text === "off" ? text : undefined),
  },
  kubeconfigFile: fileSetting("kubeconfig", "the account of its own Pod", "how to reach the API server"),
  namespace: {
    flag: "namespace",
    shows: "NAME",
    fallback: "lastcall",
    fallbackShows: "lastcall",
    expects: "a namespace name, lower-case letters, digits and -",
    summary: "namespace of the server itself: never injected, and part of its certificate's name",
    parse: (text) => (isNamespaceName(text) ? text : undefined),
  },
  drainDelayMs: waitSetting("drain-delay", 5_000, "how long it keeps serving after SIGTERM"),
  certificateCheckMs: waitSetting("certificate-check", 10_000, "how often the certificate is looked at"),
  ...ENFORCEMENT_SETTINGS,
  ...RELAY_SETTINGS,
  logLevel: {
    flag: "log-level",
    shows: LOG_LEVELS.join("|"),
    fallback: "info",
    fallbackShows: "info",
    expects: `one of ${LOG_LEVELS.join(", ")}`,
    summary: "least important line that is logged",
    parse: (text) => LOG_LEVELS.find((level) => level === text),
  },
};

/** The settings in the order the help shows them. */
export const SETTING_KEYS = Object.keys(SETTINGS) as readonly (keyof WebhookSettings)[];

/** `drain-delay` is also `LASTCALL_DRAIN_DELAY`. */
export function variableOf(flag: string): string {
  return `LASTCALL_${flag.toUpperCase().replaceAll("-", "_")}`;
}
