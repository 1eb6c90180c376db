import { expect, test } from "vitest";
import { listOf, type Manifest, ofKind, render } from "./rendering.ts";
import { MATRIX, MATRIX_NAMES } from "./values-matrix.ts";

/**
 * Every right the chart may give, as `role: groups/resources[names] verbs`. A line that is not here is one that nobody
 * has thought about: it needs a reason before it needs a line.
 */
const RIGHTS = {
  namespaces: "ClusterRole lastcall-webhook: /namespaces get list watch",
  nodes: "ClusterRole lastcall-webhook: /nodes list watch",
  limitRanges: "ClusterRole lastcall-webhook: /limitranges list watch",
  events: "ClusterRole lastcall-webhook: /events create",
  configuration:
    "ClusterRole lastcall-webhook: admissionregistration.k8s.io/mutatingwebhookconfigurations[drain.lastcall.dev] get patch",
  ownSecret: "Role lastcall-webhook: /secrets[lastcall-ca] get patch",
  newSecret: "Role lastcall-webhook: /secrets create",
  selfTest: "Role lastcall-self-test: /pods create",
} as const;

const FACTS = [RIGHTS.namespaces, RIGHTS.nodes, RIGHTS.limitRanges, RIGHTS.events];
const SELF = [...FACTS, RIGHTS.configuration, RIGHTS.ownSecret, RIGHTS.newSecret];

/** Who keeps the certificates decides which rights are needed for them. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  "certificates of cert-manager": [...FACTS, RIGHTS.selfTest],
  "certificates of an issuer": [...FACTS, RIGHTS.selfTest],
  "an existing Secret": [...FACTS, RIGHTS.configuration, RIGHTS.selfTest],
  "an existing Secret with its CA": [...FACTS, RIGHTS.selfTest],
  "as little as possible": SELF,
};

test.for(MATRIX_NAMES)("with %s, the accounts get the rights in the table and no other", (name) => {
  const manifests = render(MATRIX[name]);
  const roles = [...ofKind(manifests, "ClusterRole"), ...ofKind(manifests, "Role")];
  expect(roles.flatMap(rightsOf)).toEqual(EXPECTED[name] ?? [...SELF, RIGHTS.selfTest]);
});

test("every binding gives a role of this chart to an account of this chart", () => {
  const manifests = render();
  const roles = [...ofKind(manifests, "ClusterRole"), ...ofKind(manifests, "Role")];
  const bindings = [...ofKind(manifests, "ClusterRoleBinding"), ...ofKind(manifests, "RoleBinding")];
  expect(bindings).toHaveLength(roles.length);
  for (const binding of bindings) {
    const name = binding.metadata.name;
    expect(binding["roleRef"]).toMatchObject({ kind: binding.kind.replace("Binding", ""), name });
    expect(binding["subjects"]).toEqual([{ kind: "ServiceAccount", name, namespace: "lastcall" }]);
  }
});

type Rule = Readonly<Record<"apiGroups" | "resources" | "verbs", readonly string[]>> & {
  readonly resourceNames?: readonly string[];
};

function rightsOf(role: Manifest): readonly string[] {
  return listOf<Rule>(role, "rules").flatMap((rule) => {
    // A field that this test does not know would be a right that it does not see.
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
