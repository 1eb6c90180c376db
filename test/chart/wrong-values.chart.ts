import { describe, expect, test } from "vitest";
import { SHIPPED_PROFILES } from "../../src/policy/shipped-profiles.ts";
import { complaint, type Values } from "./rendering.ts";

const existing = (inner: object) => ({ certificates: { mode: "existing", existing: inner } });

/** The mistake, and the message of Helm's schema check: the value's place and the expected value. */
const BY_SCHEMA: readonly (readonly [string, Values, string])[] = [
  ["an unknown value", { webhok: {} }, "additional properties 'webhok' not allowed"],
  ["an unknown inner value", { webhook: { replica: 3 } }, "at '/webhook': additional properties 'replica'"],
  ["an unknown annotation", { policy: { defaults: { "drain-timout": "5s" } } }, "'drain-timout' not allowed"],
  ["a duration without a unit", { policy: { defaults: { "drain-timeout": "30" } } }, "/policy/defaults/drain-timeout"],
  ["a number for a duration", { policy: { defaults: { "drain-timeout": 30 } } }, "got number, want string"],
  ["a bad word in a profile", { policy: { profiles: { a: { mode: "fast" } } } }, "'auto', 'sidecar', 'native'"],
  ["a profile's name in capitals", { policy: { profiles: { Slow: {} } } }, "/policy/profiles"],
  ["a word in small letters", { failurePolicy: "fail" }, "value must be one of 'Ignore', 'Fail'"],
  ["a privileged port", { webhook: { port: 443 } }, "at '/webhook/port': minimum"],
  ["a text for a number", { webhook: { replicas: "2" } }, "got string, want integer"],
  ["no replica", { webhook: { replicas: 0 } }, "at '/webhook/replicas': minimum"],
  ["a drain delay without a unit", { webhook: { drainDelay: "5" } }, "at '/webhook/drainDelay'"],
  ["a timeout the API refuses", { webhook: { timeoutSeconds: 31 } }, "at '/webhook/timeoutSeconds': maximum"],
  ["a name no Service can have", { fullnameOverride: "1st" }, "at '/fullnameOverride'"],
  ["a name that leaves no room", { nameOverride: "a".repeat(41) }, "at '/nameOverride': maxLength"],
  ["a mode that is none", { injection: { mode: "all" } }, "value must be one of 'opt-in', 'opt-out'"],
  [
    "a selector by a name it has not",
    { injection: { objectSelector: { labels: {} } } },
    "at '/injection/objectSelector'",
  ],
  [
    "an operator that selectors do not know",
    { injection: { namespaceSelector: { matchExpressions: [{ key: "a", operator: "Is" }] } } },
    "/injection/namespaceSelector/matchExpressions/0/operator",
  ],
  ["a runbook that is no address", { monitoring: { prometheusRule: { runbookUrl: "wiki" } } }, "/runbookUrl"],
  ["an address family by another name", { webhook: { ipFamilies: ["ipv6"] } }, "value must be one of 'IPv4', 'IPv6'"],
  ["a family twice", { webhook: { ipFamilies: ["IPv6", "IPv6"] } }, "at '/webhook/ipFamilies'"],
  ["a strategy that is none", { webhook: { strategy: { type: "Rolling" } } }, "'RollingUpdate', 'Recreate'"],
  [
    "more than all replicas",
    { webhook: { strategy: { rollingUpdate: { maxSurge: "101%" } } } },
    "at '/webhook/strategy/rollingUpdate/maxSurge'",
  ],
  ["a revision that no label can have", { revision: "Canary" }, "at '/revision'"],
  ["root as user", { webhook: { runAsUser: 0 } }, "at '/webhook/runAsUser': minimum"],
  ["a user by name", { webhook: { runAsUser: "nobody" } }, "at '/webhook/runAsUser'"],
  [
    "a pull policy in small letters",
    { image: { manager: { pullPolicy: "always" } } },
    "at '/image/manager/pullPolicy'",
  ],
  ["a word where a flag belongs", { webhook: { extraArgs: ["webhook"] } }, "at '/webhook/extraArgs/0'"],
  [
    "a pull secret with a namespace",
    { image: { pullSecrets: [{ name: "a", namespace: "b" }] } },
    "/image/pullSecrets/0",
  ],
  ["a mount of nothing", { webhook: { extraVolumeMounts: [{ mountPath: "/x" }] } }, "/webhook/extraVolumeMounts/0"],
  ["a digest that is none", { image: { manager: { digest: "sha256:abc" } } }, "at '/image/manager/digest'"],
  ["a refusing policy", { admissionPolicy: { validationActions: ["Deny"] } }, "value must be one of 'Warn', 'Audit'"],
  ["no action at all", { admissionPolicy: { validationActions: [] } }, "at '/admissionPolicy/validationActions'"],
  ["an address that is no block", { networkPolicy: { apiServerAddresses: ["10.0.0.1"] } }, "/networkPolicy/apiServ"],
  ["a relay on a privileged port", { relay: { port: 443 } }, "at '/relay/port': minimum"],
  ["a caller who is no one", { networkPolicy: { webhookFrom: [{}] } }, "at '/networkPolicy/webhookFrom/0'"],
  [
    "a caller by a name that policies do not know",
    { networkPolicy: { webhookFrom: [{ cidr: "10.0.0.1/32" }] } },
    "at '/networkPolicy/webhookFrom/0'",
  ],
  ["a port beyond the last", { relay: { adminPort: 70_000 } }, "at '/relay/adminPort': maximum"],
  ["an interval without a unit", { monitoring: { podMonitor: { interval: "30" } } }, "/monitoring/podMonitor/interval"],
  ["an unknown mode", { certificates: { mode: "selfsigned" } }, "'self', 'cert-manager', 'existing'"],
];

/** Valid alone, invalid together: the message names the values and a remedy. */
const BY_RULE: readonly (readonly [string, Values, string])[] = [
  [
    "Fail with one replica",
    { failurePolicy: "Fail", webhook: { replicas: 1 } },
    "webhook.replicas is 1 and failurePolicy is Fail",
  ],
  [
    "Fail without a disruption budget",
    { failurePolicy: "Fail", podDisruptionBudget: { enabled: false } },
    "podDisruptionBudget.enabled is false and failurePolicy is Fail",
  ],
  [
    "a proof in a namespace that is left alone",
    { failurePolicy: "Fail", selfTest: { enabled: false, namespace: "kube-system" } },
    "selfTest.namespace is kube-system, where nothing is ever injected",
  ],
  [
    "Fail with a rollout that begins with no replica",
    { failurePolicy: "Fail", webhook: { strategy: { type: "Recreate" } } },
    "webhook.strategy.type is Recreate and failurePolicy is Fail",
  ],
  [
    "two strategies in one",
    { webhook: { strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1 } } } },
    "webhook.strategy.rollingUpdate is set and webhook.strategy.type is Recreate",
  ],
  [
    "two families in one",
    { webhook: { ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv6", "IPv4"] } },
    "webhook.ipFamilies has two families and webhook.ipFamilyPolicy is SingleStack",
  ],
  [
    "Fail in opt-out mode",
    { failurePolicy: "Fail", injection: { mode: "opt-out" } },
    "injection.mode is opt-out and failurePolicy is Fail",
  ],
  [
    "a test in a namespace that is left alone",
    { injection: { excludedNamespaces: ["default"] } },
    "selfTest.namespace is default, where nothing is ever injected",
  ],
  [
    "Fail with replicas that leave at once",
    { failurePolicy: "Fail", webhook: { drainDelay: "999ms" } },
    "webhook.drainDelay is 999ms and failurePolicy is Fail",
  ],
  [
    "a drain delay no timer can take",
    { webhook: { drainDelay: "600h" } },
    "webhook.drainDelay is 600h: the server takes 24h at most",
  ],
  ["mode existing without a Secret", existing({}), "certificates.existing.secretName is empty"],
  ["a CA that is no PEM", existing({ secretName: "tls", caBundle: "TUlJ" }), 'starts with "TUlJ": expected PEM'],
  [
    "a private key as CA",
    existing({ secretName: "tls", caBundle: "-----BEGIN CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----" }),
    "certificates.existing.caBundle holds a private key",
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
    "a profile that is not there",
    { policy: { defaults: { profile: "slow" }, profiles: { fast: {} } } },
    "policy.defaults.profile is slow: there is no such profile; use one of spot, dev, singleton, edge, long-work, fast, or add slow to policy.profiles.",
  ],
  [
    "a profile that names one",
    { policy: { profiles: { slow: { profile: "slow" } } } },
    "policy.profiles.slow.profile is set",
  ],
  [
    "a port that does not exist",
    { policy: { defaults: { "drain-ports": "8080,70000" } } },
    "policy.defaults.drain-ports has 70000: expected ports from 1 to 65535.",
  ],
  [
    "a port of the privileged",
    { policy: { profiles: { slow: { port: "1023" } } } },
    "policy.profiles.slow.port has 1023: expected ports from 1024 to 65535.",
  ],
  ["a privileged port of the page of drains", { relay: { adminPort: 80 } }, "relay.adminPort is 80: expected 0"],
  [
    "two servers on one port",
    { relay: { adminPort: 9_443 }, webhook: { port: 9_443 } },
    "relay.adminPort and webhook.port are both 9443",
  ],
  [
    "the relay on the webhook's port",
    { relay: { port: 9_443 }, webhook: { port: 9_443 } },
    "relay.port and webhook.port are both 9443",
  ],
  [
    "the page of drains on the relay's port",
    { relay: { port: 9_443, adminPort: 9_443 } },
    "relay.adminPort and relay.port are both 9443",
  ],
  [
    "callers of the webhook that no policy keeps apart",
    { networkPolicy: { webhookFrom: [{ ipBlock: { cidr: "10.0.0.1/32" } }] } },
    "networkPolicy.webhookFrom is set and networkPolicy.enabled is false",
  ],
  [
    "a page of drains on the node's address",
    { webhook: { hostNetwork: true } },
    "webhook.hostNetwork is true and relay.adminPort is 8081",
  ],
  [
    "a chart that is switched off where no other chart reads it",
    { enabled: false },
    "enabled is false, and the chart is rendered all the same",
  ],
  [
    "two monitors of the same replicas",
    { monitoring: { podMonitor: { enabled: true }, serviceMonitor: { enabled: true } } },
    "monitoring.podMonitor.enabled and monitoring.serviceMonitor.enabled are both true",
  ],
  [
    "a test where nothing is injected",
    { selfTest: { namespace: "kube-system" } },
    "selfTest.namespace is kube-system, where nothing is ever injected",
  ],
];

describe("the schema refuses", () => {
  test.for(BY_SCHEMA)("%s", ([, values, message]) => {
    expect(complaint(values)).toContain(message);
  });
});

describe("a message refuses", () => {
  test.for(BY_RULE)("%s", ([, values, message]) => {
    expect(complaint(values)).toContain(message);
  });

  test("a wrong profile once, if a profile of the cluster replaces a shipped one", () => {
    const own = complaint({ policy: { defaults: { profile: "slow" }, profiles: { spot: {} } } });
    expect(own).toContain("use one of spot, dev, singleton, edge, long-work, or add slow to policy.profiles.");
  });

  test("the release in the namespace that the self-test uses", () => {
    expect(complaint({}, "default")).toContain("the release's namespace is default");
    expect(complaint({ selfTest: { namespace: "probes" } }, "default")).toBe("");
  });

  test("all mistakes at once", () => {
    const message = complaint({ failurePolicy: "Fail", webhook: { replicas: 1 }, relay: { adminPort: 1 } });
    expect(message).toContain("webhook.replicas is 1");
    expect(message).toContain("relay.adminPort is 1");
  });
});

test.for(Object.keys(SHIPPED_PROFILES))("the shipped profile %s is a default of the cluster", (profile) => {
  expect(complaint({ policy: { defaults: { profile } } })).toBe("");
});
