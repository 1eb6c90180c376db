import { describe, expect, test } from "vitest";
import { SHIPPED_PROFILES } from "../../src/policy/shipped-profiles.ts";
import { renderError, type Values } from "./rendering.ts";

const existingCertificate = (inner: object) => ({ certificates: { mode: "existing", existing: inner } });

/** A description of the mistake, the values, and a part of the message of Helm's schema check. */
const REJECTED_BY_SCHEMA: readonly (readonly [string, Values, string])[] = [
  ["an unknown value", { webhok: {} }, "additional properties 'webhok' not allowed"],
  ["an unknown inner value", { webhook: { replica: 3 } }, "at '/webhook': additional properties 'replica'"],
  ["an unknown annotation", { policy: { defaults: { "drain-timout": "5s" } } }, "'drain-timout' not allowed"],
  ["a duration without a unit", { policy: { defaults: { "drain-timeout": "30" } } }, "/policy/defaults/drain-timeout"],
  ["a number for a duration", { policy: { defaults: { "drain-timeout": 30 } } }, "got number, want string"],
  ["an unknown mode in a profile", { policy: { profiles: { a: { mode: "fast" } } } }, "'auto', 'sidecar', 'native'"],
  ["a profile name with a capital letter", { policy: { profiles: { Slow: {} } } }, "/policy/profiles"],
  ["a failurePolicy in lower case", { failurePolicy: "fail" }, "value must be one of 'Ignore', 'Fail'"],
  ["a privileged port", { webhook: { port: 443 } }, "at '/webhook/port': minimum"],
  ["a string for a number", { webhook: { replicas: "2" } }, "got string, want integer"],
  ["zero replicas", { webhook: { replicas: 0 } }, "at '/webhook/replicas': minimum"],
  ["a drain delay without a unit", { webhook: { drainDelay: "5" } }, "at '/webhook/drainDelay'"],
  ["a timeout beyond the API's maximum", { webhook: { timeoutSeconds: 31 } }, "at '/webhook/timeoutSeconds': maximum"],
  ["a name that is invalid for a Service", { fullnameOverride: "1st" }, "at '/fullnameOverride'"],
  ["a name that is too long for suffixes", { nameOverride: "a".repeat(41) }, "at '/nameOverride': maxLength"],
  ["an unknown injection mode", { injection: { mode: "all" } }, "value must be one of 'opt-in', 'opt-out'"],
  [
    "a selector with an unknown field",
    { injection: { objectSelector: { labels: {} } } },
    "at '/injection/objectSelector'",
  ],
  [
    "a selector with an unknown operator",
    { injection: { namespaceSelector: { matchExpressions: [{ key: "a", operator: "Is" }] } } },
    "/injection/namespaceSelector/matchExpressions/0/operator",
  ],
  ["a runbook URL that is not a URL", { monitoring: { prometheusRule: { runbookUrl: "wiki" } } }, "/runbookUrl"],
  ["an unknown IP family", { webhook: { ipFamilies: ["ipv6"] } }, "value must be one of 'IPv4', 'IPv6'"],
  ["a duplicate IP family", { webhook: { ipFamilies: ["IPv6", "IPv6"] } }, "at '/webhook/ipFamilies'"],
  ["an unknown rollout strategy", { webhook: { strategy: { type: "Rolling" } } }, "'RollingUpdate', 'Recreate'"],
  [
    "a maxSurge above 100%",
    { webhook: { strategy: { rollingUpdate: { maxSurge: "101%" } } } },
    "at '/webhook/strategy/rollingUpdate/maxSurge'",
  ],
  ["a revision that is invalid as a label value", { revision: "Canary" }, "at '/revision'"],
  ["root as user", { webhook: { runAsUser: 0 } }, "at '/webhook/runAsUser': minimum"],
  ["a user name instead of a number", { webhook: { runAsUser: "nobody" } }, "at '/webhook/runAsUser'"],
  ["a pull policy in lower case", { image: { manager: { pullPolicy: "always" } } }, "at '/image/manager/pullPolicy'"],
  ["an additional argument that is not a flag", { webhook: { extraArgs: ["webhook"] } }, "at '/webhook/extraArgs/0'"],
  [
    "a pull secret with a namespace",
    { image: { pullSecrets: [{ name: "a", namespace: "b" }] } },
    "/image/pullSecrets/0",
  ],
  [
    "a mount without a volume",
    { webhook: { extraVolumeMounts: [{ mountPath: "/x" }] } },
    "/webhook/extraVolumeMounts/0",
  ],
  ["an invalid digest", { image: { manager: { digest: "sha256:abc" } } }, "at '/image/manager/digest'"],
  [
    "the validation action Deny",
    { admissionPolicy: { validationActions: ["Deny"] } },
    "value must be one of 'Warn', 'Audit'",
  ],
  ["no validation action", { admissionPolicy: { validationActions: [] } }, "at '/admissionPolicy/validationActions'"],
  [
    "an address that is not a CIDR block",
    { networkPolicy: { apiServerAddresses: ["10.0.0.1"] } },
    "/networkPolicy/apiServ",
  ],
  ["a relay on a privileged port", { relay: { port: 443 } }, "at '/relay/port': minimum"],
  ["an empty NetworkPolicy peer", { networkPolicy: { webhookFrom: [{}] } }, "at '/networkPolicy/webhookFrom/0'"],
  [
    "a NetworkPolicy peer with an unknown field",
    { networkPolicy: { webhookFrom: [{ cidr: "10.0.0.1/32" }] } },
    "at '/networkPolicy/webhookFrom/0'",
  ],
  ["a port above 65535", { relay: { adminPort: 70_000 } }, "at '/relay/adminPort': maximum"],
  ["an interval without a unit", { monitoring: { podMonitor: { interval: "30" } } }, "/monitoring/podMonitor/interval"],
  ["an unknown certificate mode", { certificates: { mode: "selfsigned" } }, "'self', 'cert-manager', 'existing'"],
];

/** Values that the schema accepts and a template rejects: a description of the mistake, the values, and a part of the message. */
const REJECTED_BY_TEMPLATE: readonly (readonly [string, Values, string])[] = [
  [
    "failurePolicy Fail with one replica",
    { failurePolicy: "Fail", webhook: { replicas: 1 } },
    "webhook.replicas is 1 and failurePolicy is Fail",
  ],
  [
    "failurePolicy Fail without a disruption budget",
    { failurePolicy: "Fail", podDisruptionBudget: { enabled: false } },
    "podDisruptionBudget.enabled is false and failurePolicy is Fail",
  ],
  [
    "a dry run that proves injection in kube-system",
    { failurePolicy: "Fail", selfTest: { enabled: false, namespace: "kube-system" } },
    "selfTest.namespace is kube-system, where Pods are never injected",
  ],
  [
    "failurePolicy Fail with the rollout strategy Recreate",
    { failurePolicy: "Fail", webhook: { strategy: { type: "Recreate" } } },
    "webhook.strategy.type is Recreate and failurePolicy is Fail",
  ],
  [
    "settings of RollingUpdate with the strategy Recreate",
    { webhook: { strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1 } } } },
    "webhook.strategy.rollingUpdate is set and webhook.strategy.type is Recreate",
  ],
  [
    "two IP families with the policy SingleStack",
    { webhook: { ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv6", "IPv4"] } },
    "webhook.ipFamilies has two families and webhook.ipFamilyPolicy is SingleStack",
  ],
  [
    "failurePolicy Fail in opt-out mode",
    { failurePolicy: "Fail", injection: { mode: "opt-out" } },
    "injection.mode is opt-out and failurePolicy is Fail",
  ],
  [
    "a self-test in an excluded namespace",
    { injection: { excludedNamespaces: ["default"] } },
    "selfTest.namespace is default, where Pods are never injected",
  ],
  [
    "failurePolicy Fail with a drain delay below 1 s",
    { failurePolicy: "Fail", webhook: { drainDelay: "999ms" } },
    "webhook.drainDelay is 999ms and failurePolicy is Fail",
  ],
  [
    "a drain delay beyond the server's maximum",
    { webhook: { drainDelay: "600h" } },
    "webhook.drainDelay is 600h: expected at most 24h",
  ],
  ["mode existing without a Secret", existingCertificate({}), "certificates.existing.secretName is empty"],
  [
    "a CA that is not PEM",
    existingCertificate({ secretName: "tls", caBundle: "TUlJ" }),
    'starts with "TUlJ": expected PEM',
  ],
  [
    "a private key as CA",
    existingCertificate({ secretName: "tls", caBundle: "-----BEGIN CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----" }),
    "certificates.existing.caBundle contains a private key",
  ],
  [
    "a Secret in mode self",
    { certificates: { existing: { secretName: "tls" } } },
    "certificates.existing is set and certificates.mode is self",
  ],
  [
    "an issuer in mode self",
    { certificates: { certManager: { issuerRef: { name: "corporate" } } } },
    "certificates.certManager.issuerRef.name is set and certificates.mode is self",
  ],
  [
    "an unknown profile",
    { policy: { defaults: { profile: "slow" }, profiles: { fast: {} } } },
    "policy.defaults.profile is slow: there is no such profile; use one of spot, dev, singleton, edge, long-work, fast, or add slow to policy.profiles.",
  ],
  [
    "a profile with a profile",
    { policy: { profiles: { slow: { profile: "slow" } } } },
    "policy.profiles.slow.profile is set",
  ],
  [
    "a drain port above 65535",
    { policy: { defaults: { "drain-ports": "8080,70000" } } },
    "policy.defaults.drain-ports has 70000: expected ports from 1 to 65535.",
  ],
  [
    "a privileged manager port in a profile",
    { policy: { profiles: { slow: { port: "1023" } } } },
    "policy.profiles.slow.port has 1023: expected ports from 1024 to 65535.",
  ],
  ["a privileged admin port", { relay: { adminPort: 80 } }, "relay.adminPort is 80: expected 0"],
  [
    "the admin port on the webhook's port",
    { relay: { adminPort: 9_443 }, webhook: { port: 9_443 } },
    "relay.adminPort and webhook.port are both 9443",
  ],
  [
    "the relay on the webhook's port",
    { relay: { port: 9_443 }, webhook: { port: 9_443 } },
    "relay.port and webhook.port are both 9443",
  ],
  [
    "the admin port on the relay's port",
    { relay: { port: 9_443, adminPort: 9_443 } },
    "relay.adminPort and relay.port are both 9443",
  ],
  [
    "allowed webhook clients without a NetworkPolicy",
    { networkPolicy: { webhookFrom: [{ ipBlock: { cidr: "10.0.0.1/32" } }] } },
    "networkPolicy.webhookFrom is set and networkPolicy.enabled is false",
  ],
  [
    "an admin port on the host's network",
    { webhook: { hostNetwork: true } },
    "webhook.hostNetwork is true and relay.adminPort is 8081",
  ],
  [
    "the value enabled: false outside a parent chart",
    { enabled: false },
    "enabled is false, but the chart itself does not use this value",
  ],
  [
    "a PodMonitor and a ServiceMonitor of the same replicas",
    { monitoring: { podMonitor: { enabled: true }, serviceMonitor: { enabled: true } } },
    "monitoring.podMonitor.enabled and monitoring.serviceMonitor.enabled are both true",
  ],
  [
    "a self-test in kube-system",
    { selfTest: { namespace: "kube-system" } },
    "selfTest.namespace is kube-system, where Pods are never injected",
  ],
];

describe("the schema of the chart's values rejects", () => {
  test.for(REJECTED_BY_SCHEMA)("%s", ([, values, message]) => {
    expect(renderError(values)).toContain(message);
  });
});

describe("the chart's templates reject, with a message,", () => {
  test.for(REJECTED_BY_TEMPLATE)("%s", ([, values, message]) => {
    expect(renderError(values)).toContain(message);
  });

  test("an unknown profile, and the message lists a shipped profile only once if the values replace it", () => {
    const message = renderError({ policy: { defaults: { profile: "slow" }, profiles: { spot: {} } } });
    expect(message).toContain("use one of spot, dev, singleton, edge, long-work, or add slow to policy.profiles.");
  });

  test("a release in the namespace of the self-test", () => {
    expect(renderError({}, "default")).toContain("the release's namespace is default");
    expect(renderError({ selfTest: { namespace: "probes" } }, "default")).toBe("");
  });

  test("all invalid values together", () => {
    const message = renderError({ failurePolicy: "Fail", webhook: { replicas: 1 }, relay: { adminPort: 1 } });
    expect(message).toContain("webhook.replicas is 1");
    expect(message).toContain("relay.adminPort is 1");
  });
});

test.for(Object.keys(SHIPPED_PROFILES))(
  "the chart accepts the shipped profile %s as the default profile",
  (profile) => {
    expect(renderError({ policy: { defaults: { profile } } })).toBe("");
  },
);
