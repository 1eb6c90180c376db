/** Builds the JSON schema of the chart's values, in draft 7 and without look-around, which all versions of Helm 3 support. */
import { PULL_POLICIES } from "../kubernetes/pod.ts";
import { PULL_SECRETS_LIMIT } from "../webhook/settings.ts";
import { configSchema } from "./config-schema.ts";

type Schema = Readonly<Record<string, unknown>>;

export function chartValuesSchema(): object {
  const { properties: policy, $defs } = configSchema() as {
    readonly properties: Record<string, Schema>;
    readonly $defs: { readonly policy: Schema };
  };
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Values of the lastcall chart",
    ...closedObject({
      // Helm adds `global` if this chart is a dependency.
      global: { type: "object" },
      enabled: BOOLEAN,
      // Becomes a suffix of label values and object names.
      revision: { type: "string", pattern: "^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", maxLength: 20 },
      nameOverride: NAME_PREFIX,
      fullnameOverride: NAME_PREFIX,
      injection: closedObject({
        mode: enumOf("opt-in", "opt-out"),
        excludedNamespaces: { type: "array", uniqueItems: true, items: NAMESPACE },
        namespaceSelector: { $ref: "#/definitions/selector" },
        objectSelector: { $ref: "#/definitions/selector" },
        checkSettings: { type: "boolean" },
      }),
      image: IMAGES,
      policy: closedObject({
        defaults: { $ref: "#/definitions/policy" },
        profiles: {
          type: "object",
          additionalProperties: false,
          patternProperties: { [NAME]: { $ref: "#/definitions/policy" } },
        },
        onInvalid: policy["onInvalid"] ?? {},
      }),
      commonLabels: TEXT_MAP,
      commonAnnotations: TEXT_MAP,
      failurePolicy: enumOf("Ignore", "Fail"),
      webhook: WEBHOOK,
      podDisruptionBudget: closedObject({ enabled: BOOLEAN }),
      certificates: CERTIFICATES,
      networkPolicy: closedObject({
        enabled: BOOLEAN,
        webhookFrom: { type: "array", items: PEER },
        apiServerPorts: { type: "array", minItems: 1, items: PORT },
        apiServerAddresses: { type: "array", uniqueItems: true, items: { type: "string", pattern: ADDRESS_BLOCK } },
      }),
      admissionPolicy: closedObject({
        enabled: BOOLEAN,
        validationActions: { type: "array", minItems: 1, uniqueItems: true, items: enumOf("Warn", "Audit") },
        guards: BOOLEAN,
      }),
      selfTest: closedObject({
        enabled: BOOLEAN,
        namespace: NAMESPACE,
        podLabels: TEXT_MAP,
        startsPod: BOOLEAN,
        wait: DURATION,
      }),
      relay: closedObject({
        enabled: BOOLEAN,
        port: HIGH_PORT,
        readPods: BOOLEAN,
        adminPort: { ...PORT, minimum: 0 },
        adminListen: enumOf("loopback", "all"),
      }),
      monitoring: MONITORING,
    }),
    definitions: { policy: $defs.policy, selector: SELECTOR, strategy: STRATEGY },
  };
}

const NAME = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
const SUBDOMAIN = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$";
const ADDRESS_BLOCK = "^[0-9a-fA-F.:]+/[0-9]{1,3}$";
const DURATION: Schema = { type: "string", pattern: "^[0-9]{1,6}(ms|s|m|h)$" };
const BOOLEAN: Schema = { type: "boolean" };
const TEXT: Schema = { type: "string" };
const PORT: Schema = { type: "integer", minimum: 1, maximum: 65_535 };
/** A port for the server, which does not run as root. */
const HIGH_PORT: Schema = { ...PORT, minimum: 1024 };
const NAMESPACE: Schema = { type: "string", pattern: NAME, maxLength: 63 };
const TEXT_MAP: Schema = { type: "object", additionalProperties: TEXT };
const ANY_MAP: Schema = { type: "object" };

/** Rejects unknown keys: a selector with a misspelled key would silently select more objects. */
const SELECTOR: Schema = closedObject({
  matchLabels: TEXT_MAP,
  matchExpressions: {
    type: "array",
    items: {
      ...closedObject({
        key: TEXT,
        operator: enumOf("In", "NotIn", "Exists", "DoesNotExist"),
        values: { type: "array", items: TEXT },
      }),
      required: ["key", "operator"],
    },
  },
});

/** A NetworkPolicyPeer. An empty peer would allow every client, or be rejected by the API server. */
const PEER: Schema = {
  ...closedObject({
    ipBlock: {
      ...closedObject({ cidr: { type: "string", pattern: ADDRESS_BLOCK }, except: { type: "array", items: TEXT } }),
      required: ["cidr"],
    },
    namespaceSelector: ANY_MAP,
    podSelector: ANY_MAP,
  }),
  minProperties: 1,
};

/** The longest derived name is the Service's, with the suffix -webhook: at most 63 characters, and no digit at the start. */
const NAME_PREFIX: Schema = { type: "string", pattern: "^$|^[a-z]([-a-z0-9]*[a-z0-9])?$", maxLength: 40 };

const IMAGE = {
  repository: { type: "string", pattern: "^[a-z0-9]+([._/-]+[a-z0-9]+)*$" },
  tag: { type: "string", pattern: "^$|^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$" },
  digest: { type: "string", pattern: "^$|^sha256:[a-f0-9]{64}$" },
};

const SECRET_NAME: Schema = { type: "string", pattern: SUBDOMAIN };
const PULL_SECRETS: Schema = { type: "array", items: SECRET_NAME };

const IMAGES = closedObject({
  registry: { type: "string", pattern: "^$|^[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[a-z0-9._/-]*)?$" },
  allowEmptyRegistry: BOOLEAN,
  pullPolicy: enumOf(...PULL_POLICIES),
  pullSecrets: {
    type: "array",
    items: { anyOf: [SECRET_NAME, { ...closedObject({ name: SECRET_NAME }), required: ["name"] }] },
  },
  webhook: closedObject(IMAGE),
  manager: closedObject({
    ...IMAGE,
    pullPolicy: enumOf("", ...PULL_POLICIES),
    pullSecrets: { ...PULL_SECRETS, maxItems: PULL_SECRETS_LIMIT },
    watchPulls: BOOLEAN,
  }),
});

const WEBHOOK = closedObject({
  replicas: { type: "integer", minimum: 1, maximum: 50 },
  port: HIGH_PORT,
  timeoutSeconds: { type: "integer", minimum: 1, maximum: 30 },
  drainDelay: DURATION,
  logLevel: enumOf("fatal", "error", "warn", "info", "debug", "silent"),
  kubernetesVersion: { type: "string", pattern: "^auto$|^v?[0-9]{1,2}\\.[0-9]{1,3}(\\.[0-9]{1,3})?$" },
  hostNetwork: BOOLEAN,
  clientCA: { type: "string", pattern: "^$|-----BEGIN CERTIFICATE-----" },
  runAsUser: { type: ["integer", "string", "null"], minimum: 1, pattern: "^auto$" },
  priorityClassName: { type: "string", pattern: `^$|${SUBDOMAIN}` },
  resources: closedObject({ requests: ANY_MAP, limits: ANY_MAP }),
  nodeSelector: TEXT_MAP,
  tolerations: { type: "array", items: ANY_MAP },
  affinity: ANY_MAP,
  topologySpreadConstraints: { type: ["array", "null"], items: ANY_MAP },
  strategy: { $ref: "#/definitions/strategy" },
  ipFamilyPolicy: enumOf("", "SingleStack", "PreferDualStack", "RequireDualStack"),
  ipFamilies: { type: "array", uniqueItems: true, maxItems: 2, items: enumOf("IPv4", "IPv6") },
  extraArgs: { type: "array", items: { type: "string", pattern: "^--[a-z]" } },
  extraEnv: { type: "array", items: { type: "object", required: ["name"] } },
  extraVolumes: { type: "array", items: { type: "object", required: ["name"] } },
  extraVolumeMounts: { type: "array", items: { type: "object", required: ["name", "mountPath"] } },
  podAnnotations: TEXT_MAP,
  podLabels: TEXT_MAP,
  configurationAnnotations: TEXT_MAP,
  serviceAnnotations: TEXT_MAP,
  serviceAccountAnnotations: TEXT_MAP,
});

const AMOUNT: Schema = { type: ["integer", "string"], minimum: 0, pattern: "^(100|[0-9]{1,2})%$" };
const STRATEGY: Schema = closedObject({
  type: enumOf("RollingUpdate", "Recreate"),
  rollingUpdate: closedObject({ maxUnavailable: AMOUNT, maxSurge: AMOUNT }),
});

const CERTIFICATES = closedObject({
  mode: enumOf("self", "cert-manager", "existing"),
  certManager: closedObject({
    issuerRef: closedObject({
      name: { type: "string", pattern: `^$|${SUBDOMAIN}` },
      kind: { type: "string", pattern: "^[A-Z][A-Za-z]*$" },
      group: { type: "string", pattern: SUBDOMAIN },
    }),
  }),
  existing: closedObject({ secretName: { type: "string", pattern: `^$|${SUBDOMAIN}` }, caBundle: TEXT }),
});

const MONITOR = closedObject({
  enabled: BOOLEAN,
  labels: TEXT_MAP,
  interval: { type: "string", pattern: "^[0-9]{1,4}(ms|s|m|h)$" },
});

const MONITORING = closedObject({
  podMonitor: MONITOR,
  serviceMonitor: MONITOR,
  prometheusRule: closedObject({
    enabled: BOOLEAN,
    labels: TEXT_MAP,
    alertLabels: TEXT_MAP,
    runbookUrl: { type: "string", pattern: "^$|^https?://" },
  }),
  dashboard: closedObject({ enabled: BOOLEAN, labels: TEXT_MAP }),
});

/** Builds the schema of an object that rejects unknown keys. It does not require keys, because values.yaml has a default for each. */
function closedObject(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: "object", additionalProperties: false, properties };
}

function enumOf(...values: readonly string[]): Schema {
  return { type: "string", enum: values };
}
