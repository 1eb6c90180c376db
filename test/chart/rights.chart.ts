import { expect, test } from "vitest";
import { listOf, type Manifest, ofKind, render } from "./rendering.ts";
import { MATRIX, MATRIX_NAMES } from "./values-matrix.ts";

/**
 * Every right that the chart may grant, as `role: groups/resources[names] verbs`. A new right needs a reason
 * before it gets a line here.
 */
const RIGHTS = {
  namespaces: "ClusterRole lastcall-webhook: /namespaces list watch",
  nodes: "ClusterRole lastcall-webhook: /nodes list watch",
  limitRanges: "ClusterRole lastcall-webhook: /limitranges list watch",
  events: "ClusterRole lastcall-webhook: /events create",
  pulls: "ClusterRole lastcall-webhook: /events list watch",
  configuration:
    "ClusterRole lastcall-webhook: admissionregistration.k8s.io/mutatingwebhookconfigurations[drain.lastcall.dev] get patch",
  enforcing:
    "ClusterRole lastcall-webhook: admissionregistration.k8s.io/mutatingwebhookconfigurations[enforce.lastcall.dev] get patch",
  copied:
    "ClusterRole lastcall-webhook: admissionregistration.k8s.io/mutatingwebhookconfigurations[drain.lastcall.dev] get",
  slices: "ClusterRole lastcall-webhook: discovery.k8s.io/endpointslices list watch",
  pods: "ClusterRole lastcall-webhook: /pods get",
  bothSecrets: "Role lastcall-webhook: /secrets[lastcall-ca,lastcall-relay] get patch",
  authoritySecret: "Role lastcall-webhook: /secrets[lastcall-ca] get patch",
  relaySecret: "Role lastcall-webhook: /secrets[lastcall-relay] get patch",
  newSecret: "Role lastcall-webhook: /secrets create",
  proof: "Role lastcall-proof: /pods create",
  selfTest: "Role lastcall-self-test: /pods create",
  selfTestPod: "Role lastcall-self-test: /pods[lastcall-self-test] delete get",
} as const;

const SELF_TEST = [RIGHTS.selfTest, RIGHTS.selfTestPod];
const FACTS = [RIGHTS.namespaces, RIGHTS.nodes, RIGHTS.limitRanges, RIGHTS.events, RIGHTS.pulls];
const WITHOUT_PODS = [...FACTS, RIGHTS.slices];
const RELAYED = [...WITHOUT_PODS, RIGHTS.pods];
const BOTH_SECRETS = [RIGHTS.bothSecrets, RIGHTS.newSecret];
const DEFAULT = [...RELAYED, RIGHTS.configuration, ...BOTH_SECRETS, ...SELF_TEST];
const READING_NO_PODS = [...WITHOUT_PODS, RIGHTS.configuration, ...BOTH_SECRETS, ...SELF_TEST];
const ENFORCING = [...RELAYED, RIGHTS.configuration, RIGHTS.enforcing, RIGHTS.proof, ...BOTH_SECRETS, ...SELF_TEST];
const RELAY_ONLY = [RIGHTS.relaySecret, RIGHTS.newSecret, ...SELF_TEST];
const WITHOUT_RELAY = [...FACTS, RIGHTS.configuration, RIGHTS.authoritySecret, RIGHTS.newSecret];

/** The certificate mode and the relay decide which rights are needed. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  "failing closed": ENFORCING,
  "certificates of cert-manager": [...RELAYED, ...RELAY_ONLY],
  "certificates of an issuer": [...RELAYED, ...RELAY_ONLY],
  "an existing Secret": [...RELAYED, RIGHTS.configuration, ...RELAY_ONLY],
  "an existing Secret with its CA": [...RELAYED, ...RELAY_ONLY],
  "a revision": DEFAULT.map((right) =>
    right.replaceAll(/lastcall-(?!self-test\])/g, "lastcall-canary-").replace("drain.", "drain-canary."),
  ),
  "names of one's own": DEFAULT.map((right) => right.replaceAll(/lastcall-(?!self-test\])/g, "drain-")),
  "a relay that reads no Pods": READING_NO_PODS,
  "no relay": [...WITHOUT_RELAY, ...SELF_TEST],
  "as little as possible": WITHOUT_RELAY,
};

test.for(MATRIX_NAMES)("with %s, the service accounts get exactly the permissions in the table", (name) => {
  const manifests = render(MATRIX[name]);
  const roles = [...ofKind(manifests, "ClusterRole"), ...ofKind(manifests, "Role")];
  expect(roles.flatMap(rightsOf)).toEqual(EXPECTED[name] ?? DEFAULT);
});

test("with Fail and cert-manager the webhook may read its configuration, and write only the copy", () => {
  const roles = ofKind(render({ failurePolicy: "Fail", certificates: { mode: "cert-manager" } }), "ClusterRole");
  const rights = roles.flatMap(rightsOf).filter((right) => right.includes("configurations"));
  expect(rights).toEqual([RIGHTS.copied, RIGHTS.enforcing]);
});

test("without the watch of image pulls, no account may read Events", () => {
  const roles = ofKind(render({ image: { manager: { watchPulls: false } } }), "ClusterRole");
  expect(roles.flatMap(rightsOf)).toContain(RIGHTS.events);
  expect(roles.flatMap(rightsOf)).not.toContain(RIGHTS.pulls);
});

test("the account of a self-test with only dry runs may not read or delete Pods", () => {
  const roles = ofKind(render({ selfTest: { startsPod: false } }), "Role");
  expect(roles.flatMap(rightsOf)).toContain(RIGHTS.selfTest);
  expect(roles.flatMap(rightsOf)).not.toContain(RIGHTS.selfTestPod);
});

test("without the relay and lastcall's own CA, no account may write Secrets", () => {
  const manifests = render({ certificates: { mode: "cert-manager" }, relay: { enabled: false } });
  expect([...ofKind(manifests, "Secret"), ...ofKind(manifests, "Role")].map(({ metadata }) => metadata.name)).toEqual([
    "lastcall-self-test",
  ]);
});

test("every role binding is between a role and a service account of the chart", () => {
  const manifests = render({ failurePolicy: "Fail" });
  const roles = [...ofKind(manifests, "ClusterRole"), ...ofKind(manifests, "Role")];
  const bindings = [...ofKind(manifests, "ClusterRoleBinding"), ...ofKind(manifests, "RoleBinding")];
  expect(bindings).toHaveLength(roles.length);
  for (const binding of bindings) {
    const name = binding.metadata.name;
    expect(binding["roleRef"]).toMatchObject({ kind: binding.kind.replace("Binding", ""), name });
    const account = name === "lastcall-proof" ? "lastcall-webhook" : name;
    expect(binding["subjects"]).toEqual([{ kind: "ServiceAccount", name: account, namespace: "lastcall" }]);
  }
});

type Rule = Readonly<Record<"apiGroups" | "resources" | "verbs", readonly string[]>> & {
  readonly resourceNames?: readonly string[];
};

function rightsOf(role: Manifest): readonly string[] {
  return listOf<Rule>(role, "rules").flatMap((rule) => {
    // An unknown field could be a right that this test misses.
    expect(
      Object.keys(rule).filter((key) => !["apiGroups", "resources", "resourceNames", "verbs"].includes(key)),
    ).toEqual([]);
    const names = rule.resourceNames === undefined ? "" : `[${rule.resourceNames.join(",")}]`;
    const verbs = [...rule.verbs].sort().join(" ");
    return rule.apiGroups.flatMap((group) =>
      rule.resources.map((resource) => `${role.kind} ${role.metadata.name}: ${group}/${resource}${names} ${verbs}`),
    );
  });
}
