/** The policies that refuse. What they refuse is tried on a real cluster: `cases/certificates`, `cases/namespace-deleted`. */
import { expect, test } from "vitest";
import { at, ofKind, only, render, type Values, type Where } from "./rendering.ts";

const CONFIGURATION = "configuration.lastcall.dev";
const ENFORCING = "enforce.lastcall.dev";
const PROOF = "proof.lastcall.dev";
const NAMESPACE = "namespace.lastcall.dev";

/** Those that are bound, and deny. */
function guardsIn(values: Values, where: Where = {}): readonly string[] {
  const manifests = render(values, where);
  const policies = ofKind(manifests, "ValidatingAdmissionPolicy").map(({ metadata }) => metadata.name);
  return ofKind(manifests, "ValidatingAdmissionPolicyBinding").flatMap((binding) => {
    const name = String(at(binding, "spec", "policyName"));
    expect(policies).toContain(name);
    return JSON.stringify(at(binding, "spec", "validationActions")) === '["Deny","Audit"]' ? [name] : [];
  });
}

const existing = (caBundle: string) => ({
  certificates: { mode: "existing", existing: { secretName: "tls", caBundle } },
});
const PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----";

test.for<{ readonly says: string; readonly values: Values; readonly guards: readonly string[] }>([
  { says: "the defaults", values: {}, guards: [CONFIGURATION] },
  { says: "a CA from a Secret", values: existing(""), guards: [CONFIGURATION] },
  { says: "failing closed", values: { failurePolicy: "Fail" }, guards: [CONFIGURATION, ENFORCING, PROOF, NAMESPACE] },
  { says: "cert-manager, whose injector writes", values: { certificates: { mode: "cert-manager" } }, guards: [] },
  { says: "a caBundle that is given", values: existing(PEM), guards: [] },
  { says: "the reports alone off", values: { admissionPolicy: { enabled: false } }, guards: [CONFIGURATION] },
  { says: "the guards off", values: { failurePolicy: "Fail", admissionPolicy: { guards: false } }, guards: [] },
])("with $says the guards are $guards", ({ values, guards }) => {
  expect(guardsIn(values)).toEqual(guards);
});

test("before Kubernetes 1.30 there are none", () => {
  expect(guardsIn({ failurePolicy: "Fail" }, { kubernetes: "1.29.4" })).toEqual([]);
});

test("the account that is guarded is the one that may patch the configuration, wherever the release is", () => {
  const manifests = render({}, { namespace: "elsewhere" });
  const account = only(manifests, "ClusterRoleBinding")["subjects"];
  expect(account).toEqual([{ kind: "ServiceAccount", name: "lastcall-webhook", namespace: "elsewhere" }]);
  const guard = ofKind(manifests, "ValidatingAdmissionPolicy").find(({ metadata }) => metadata.name === CONFIGURATION);
  expect(at(guard, "spec", "matchConditions", 0, "expression")).toBe(
    "request.userInfo.username == 'system:serviceaccount:elsewhere:lastcall-webhook'",
  );
  expect(at(guard, "spec", "failurePolicy")).toBe("Fail");
});

test("the namespace that is guarded is the release's, and only while the configuration is there", () => {
  const manifests = render({ failurePolicy: "Fail" }, { namespace: "elsewhere" });
  const guard = ofKind(manifests, "ValidatingAdmissionPolicy").find(({ metadata }) => metadata.name === NAMESPACE);
  expect(at(guard, "spec", "matchConstraints", "resourceRules", 0)).toMatchObject({
    resources: ["namespaces"],
    operations: ["DELETE"],
    resourceNames: ["elsewhere"],
  });
  const binding = ofKind(manifests, "ValidatingAdmissionPolicyBinding").find(
    ({ metadata }) => metadata.name === NAMESPACE,
  );
  expect(at(binding, "spec", "paramRef")).toEqual({
    name: "enforce.lastcall.dev",
    parameterNotFoundAction: "Allow",
  });
  expect(at(guard, "spec", "validations", 0, "message")).toContain("helm uninstall lastcall --namespace elsewhere");
});
