/** Tests which policies deny requests. The e2e cases `certificates` and `namespace-deleted` test the denials. */
import { expect, test } from "vitest";
import { at, ofKind, onlyOfKind, type RenderOptions, render, type Values } from "./rendering.ts";

const CONFIGURATION_POLICY = "configuration.lastcall.dev";
const ENFORCING_POLICY = "enforce.lastcall.dev";
const PROOF_POLICY = "proof.lastcall.dev";
const NAMESPACE_POLICY = "namespace.lastcall.dev";

/** Returns the names of the policies whose binding denies requests. */
function denyingPoliciesOf(values: Values, options: RenderOptions = {}): readonly string[] {
  const manifests = render(values, options);
  const policies = ofKind(manifests, "ValidatingAdmissionPolicy").map(({ metadata }) => metadata.name);
  return ofKind(manifests, "ValidatingAdmissionPolicyBinding").flatMap((binding) => {
    const name = String(at(binding, "spec", "policyName"));
    expect(policies).toContain(name);
    return JSON.stringify(at(binding, "spec", "validationActions")) === '["Deny","Audit"]' ? [name] : [];
  });
}

const existingCertificate = (caBundle: string) => ({
  certificates: { mode: "existing", existing: { secretName: "tls", caBundle } },
});
const CA_BUNDLE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----";

test.for<{ readonly title: string; readonly values: Values; readonly guards: readonly string[] }>([
  { title: "the defaults", values: {}, guards: [CONFIGURATION_POLICY] },
  { title: "a CA from a Secret", values: existingCertificate(""), guards: [CONFIGURATION_POLICY] },
  {
    title: "failurePolicy Fail",
    values: { failurePolicy: "Fail" },
    guards: [CONFIGURATION_POLICY, ENFORCING_POLICY, PROOF_POLICY, NAMESPACE_POLICY],
  },
  {
    title: "cert-manager, whose injector writes the caBundle",
    values: { certificates: { mode: "cert-manager" } },
    guards: [],
  },
  { title: "a configured caBundle", values: existingCertificate(CA_BUNDLE), guards: [] },
  {
    title: "only the reporting policy disabled",
    values: { admissionPolicy: { enabled: false } },
    guards: [CONFIGURATION_POLICY],
  },
  { title: "the guards disabled", values: { failurePolicy: "Fail", admissionPolicy: { guards: false } }, guards: [] },
])("with $title, the ValidatingAdmissionPolicies that deny requests are $guards", ({ values, guards }) => {
  expect(denyingPoliciesOf(values)).toEqual(guards);
});

test("for Kubernetes before 1.30 the chart does not render a ValidatingAdmissionPolicy", () => {
  expect(denyingPoliciesOf({ failurePolicy: "Fail" }, { kubernetes: "1.29.4" })).toEqual([]);
});

test("the policy configuration.lastcall.dev applies to the account that is allowed to patch the webhook configuration", () => {
  const manifests = render({}, { namespace: "elsewhere" });
  const account = onlyOfKind(manifests, "ClusterRoleBinding")["subjects"];
  expect(account).toEqual([{ kind: "ServiceAccount", name: "lastcall-webhook", namespace: "elsewhere" }]);
  const guard = ofKind(manifests, "ValidatingAdmissionPolicy").find(
    ({ metadata }) => metadata.name === CONFIGURATION_POLICY,
  );
  expect(at(guard, "spec", "matchConditions", 0, "expression")).toBe(
    "request.userInfo.username == 'system:serviceaccount:elsewhere:lastcall-webhook'",
  );
  expect(at(guard, "spec", "failurePolicy")).toBe("Fail");
});

test("the policy namespace.lastcall.dev denies the deletion of the release's namespace while the fail-closed configuration exists", () => {
  const manifests = render({ failurePolicy: "Fail" }, { namespace: "elsewhere" });
  const guard = ofKind(manifests, "ValidatingAdmissionPolicy").find(
    ({ metadata }) => metadata.name === NAMESPACE_POLICY,
  );
  expect(at(guard, "spec", "matchConstraints", "resourceRules", 0)).toMatchObject({
    resources: ["namespaces"],
    operations: ["DELETE"],
    resourceNames: ["elsewhere"],
  });
  const binding = ofKind(manifests, "ValidatingAdmissionPolicyBinding").find(
    ({ metadata }) => metadata.name === NAMESPACE_POLICY,
  );
  expect(at(binding, "spec", "paramRef")).toEqual({
    name: "enforce.lastcall.dev",
    parameterNotFoundAction: "Allow",
  });
  expect(at(guard, "spec", "validations", 0, "message")).toContain("helm uninstall lastcall --namespace elsewhere");
});
