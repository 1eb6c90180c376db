import { expect, test } from "vitest";
import { listOf, type Manifest, ofKind, render } from "./rendering.ts";
import { MATRIX, MATRIX_NAMES } from "./values-matrix.ts";

/** Every permission that the chart may grant, as `role: group/resources[names] verbs`. */
const PERMISSIONS = {
  namespaces: "ClusterRole lastcall-webhook: /namespaces list watch",
  nodes: "ClusterRole lastcall-webhook: /nodes list watch",
  limitRanges: "ClusterRole lastcall-webhook: /limitranges list watch",
  eventWrites: "ClusterRole lastcall-webhook: /events create",
  eventReads: "ClusterRole lastcall-webhook: /events list watch",
  configuration:
    "ClusterRole lastcall-webhook: admissionregistration.k8s.io/mutatingwebhookconfigurations[drain.lastcall.dev] get patch",
  enforcing:
    "ClusterRole lastcall-webhook: admissionregistration.k8s.io/mutatingwebhookconfigurations[enforce.lastcall.dev] get patch",
  configurationRead:
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

const SELF_TEST = [PERMISSIONS.selfTest, PERMISSIONS.selfTestPod];
const CLUSTER_READS = [
  PERMISSIONS.namespaces,
  PERMISSIONS.nodes,
  PERMISSIONS.limitRanges,
  PERMISSIONS.eventWrites,
  PERMISSIONS.eventReads,
];
const WITHOUT_PODS = [...CLUSTER_READS, PERMISSIONS.slices];
const WITH_RELAY = [...WITHOUT_PODS, PERMISSIONS.pods];
const BOTH_SECRETS = [PERMISSIONS.bothSecrets, PERMISSIONS.newSecret];
const DEFAULT = [...WITH_RELAY, PERMISSIONS.configuration, ...BOTH_SECRETS, ...SELF_TEST];
const WITH_UNREAD_PODS = [...WITHOUT_PODS, PERMISSIONS.configuration, ...BOTH_SECRETS, ...SELF_TEST];
const ENFORCING = [
  ...WITH_RELAY,
  PERMISSIONS.configuration,
  PERMISSIONS.enforcing,
  PERMISSIONS.proof,
  ...BOTH_SECRETS,
  ...SELF_TEST,
];
const RELAY_ONLY = [PERMISSIONS.relaySecret, PERMISSIONS.newSecret, ...SELF_TEST];
const WITHOUT_RELAY = [...CLUSTER_READS, PERMISSIONS.configuration, PERMISSIONS.authoritySecret, PERMISSIONS.newSecret];

/** Permissions for each set of values whose permissions differ from those of the default values. */
const EXPECTED_PERMISSIONS: Readonly<Record<string, readonly string[]>> = {
  "failurePolicy Fail": ENFORCING,
  "certificates of cert-manager": [...WITH_RELAY, ...RELAY_ONLY],
  "certificates of an issuer": [...WITH_RELAY, ...RELAY_ONLY],
  "an existing Secret": [...WITH_RELAY, PERMISSIONS.configuration, ...RELAY_ONLY],
  "an existing Secret with its CA": [...WITH_RELAY, ...RELAY_ONLY],
  "a revision": DEFAULT.map((permission) =>
    permission.replaceAll(/lastcall-(?!self-test\])/g, "lastcall-canary-").replace("drain.", "drain-canary."),
  ),
  "overridden names": DEFAULT.map((permission) => permission.replaceAll(/lastcall-(?!self-test\])/g, "drain-")),
  "a relay that must not read Pods": WITH_UNREAD_PODS,
  "the relay disabled": [...WITHOUT_RELAY, ...SELF_TEST],
  "all optional objects disabled": WITHOUT_RELAY,
};

test.for(MATRIX_NAMES)("with %s, the service accounts get exactly the permissions in the table", (name) => {
  const manifests = render(MATRIX[name]);
  const roles = [...ofKind(manifests, "ClusterRole"), ...ofKind(manifests, "Role")];
  expect(roles.flatMap(permissionsOf)).toEqual(EXPECTED_PERMISSIONS[name] ?? DEFAULT);
});

test("with failurePolicy Fail and cert-manager the webhook may read its configuration, and write only the fail-closed copies", () => {
  const roles = ofKind(render({ failurePolicy: "Fail", certificates: { mode: "cert-manager" } }), "ClusterRole");
  const permissions = roles.flatMap(permissionsOf).filter((permission) => permission.includes("configurations"));
  expect(permissions).toEqual([PERMISSIONS.configurationRead, PERMISSIONS.enforcing]);
});

test("without the watch of image pulls, no ServiceAccount may read Events", () => {
  const roles = ofKind(render({ image: { manager: { watchPulls: false } } }), "ClusterRole");
  expect(roles.flatMap(permissionsOf)).toContain(PERMISSIONS.eventWrites);
  expect(roles.flatMap(permissionsOf)).not.toContain(PERMISSIONS.eventReads);
});

test("the ServiceAccount of a self-test with only dry runs may not read or delete Pods", () => {
  const roles = ofKind(render({ selfTest: { startsPod: false } }), "Role");
  expect(roles.flatMap(permissionsOf)).toContain(PERMISSIONS.selfTest);
  expect(roles.flatMap(permissionsOf)).not.toContain(PERMISSIONS.selfTestPod);
});

test("without the relay and lastcall's own CA, no ServiceAccount may write Secrets", () => {
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

function permissionsOf(role: Manifest): readonly string[] {
  return listOf<Rule>(role, "rules").flatMap((rule) => {
    // Another field could grant a permission that this test does not read, so a rule must not have other fields.
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
