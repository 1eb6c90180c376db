import { describe, expect, test } from "vitest";
import { ANNOTATIONS, PREFIX } from "../../src/policy/annotation-table.ts";
import { type LabelSelector, type Labels, selects } from "./label-selector.ts";
import { at, listOf, ofKind, only, render } from "./rendering.ts";

const INJECT = `${PREFIX}${ANNOTATIONS.inject.name}`;

type Entry = {
  readonly name: string;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
  readonly [field: string]: unknown;
};

const configuration = only(render(), "MutatingWebhookConfiguration");
const entries = listOf<Entry>(configuration, "webhooks");

const on: Labels = { [INJECT]: "enabled" };
const off: Labels = { [INJECT]: "disabled" };

/** Namespace, its labels, the Pod's labels, and which of the two entries asks about the Pod. */
const TABLE: readonly (readonly [string, Labels, Labels, string])[] = [
  ["shop", on, {}, "namespace"],
  ["shop", on, { app: "web" }, "namespace"],
  ["shop", on, on, "namespace"],
  ["shop", on, { [INJECT]: "yes" }, "namespace"],
  ["shop", on, off, "nobody"],
  ["shop", {}, {}, "nobody"],
  ["shop", {}, on, "pod"],
  ["shop", {}, off, "nobody"],
  ["shop", off, {}, "nobody"],
  ["shop", off, on, "pod"],
  ["shop", { [INJECT]: "true" }, {}, "nobody"],
  ["shop", { [INJECT]: "true" }, on, "pod"],
  ...["kube-system", "kube-public", "kube-node-lease", "lastcall"].flatMap((name) => [
    [name, on, {}, "nobody"] as const,
    [name, {}, on, "nobody"] as const,
    [name, on, on, "nobody"] as const,
  ]),
  ["lastcall-demo", on, {}, "namespace"],
];

describe("the webhook is asked about a Pod", () => {
  test.for(TABLE)("in %s labelled %j with labels %j by %s", ([name, namespaceLabels, podLabels, expected]) => {
    const namespace = { ...namespaceLabels, "kubernetes.io/metadata.name": name };
    const asking = entries.filter(
      (entry) => selects(entry.namespaceSelector, namespace) && selects(entry.objectSelector, podLabels),
    );
    expect(asking.map((entry) => entry.name)).toEqual(expected === "nobody" ? [] : [`${expected}.drain.lastcall.dev`]);
  });

  test("never in the release's own namespace, whatever its name is", () => {
    const own = listOf<Entry>(only(render({}, { namespace: "elsewhere" }), "MutatingWebhookConfiguration"), "webhooks");
    const labels = { ...on, "kubernetes.io/metadata.name": "elsewhere" };
    expect(own.filter((entry) => selects(entry.namespaceSelector, labels))).toEqual([]);
  });

  test("only when it is created, and by nothing but Pods", () => {
    for (const entry of entries) {
      expect(entry["rules"]).toEqual([
        { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"], scope: "Namespaced" },
      ]);
    }
  });
});

test("the policy that reports has the selectors of the webhook", () => {
  const bindings = ofKind(render(), "ValidatingAdmissionPolicyBinding").filter(
    (binding) => at(binding, "spec", "policyName") === "uninjected.lastcall.dev",
  );
  expect(bindings.map((binding) => at(binding, "spec", "matchResources"))).toEqual(
    entries.map(({ namespaceSelector, objectSelector }) => ({ namespaceSelector, objectSelector })),
  );
});

test("the configuration sorts before those of service meshes and keeps AKS away", () => {
  const names = ["istio-sidecar-injector", "linkerd-proxy-injector-webhook-config", configuration.metadata.name];
  expect(names.sort()[0]).toBe("drain.lastcall.dev");
  expect(configuration.metadata.annotations).toEqual({ "admissions.enforcer/disabled": "true" });
});

test("both entries are called again after other webhooks, and honest about Events", () => {
  for (const entry of entries) {
    expect(entry).toMatchObject({
      admissionReviewVersions: ["v1"],
      matchPolicy: "Equivalent",
      reinvocationPolicy: "IfNeeded",
      sideEffects: "NoneOnDryRun",
      timeoutSeconds: 5,
      failurePolicy: "Ignore",
      clientConfig: { service: { name: "lastcall-webhook", namespace: "lastcall", path: "/mutate", port: 443 } },
    });
  }
});

test("Fail stands in both entries when it is asked for", () => {
  const failing = listOf<Entry>(only(render({ failurePolicy: "Fail" }), "MutatingWebhookConfiguration"), "webhooks");
  expect(failing.map((entry) => entry["failurePolicy"])).toEqual(["Fail", "Fail"]);
});

test("a caBundle is rendered only when it is given", () => {
  const bundlesOf = (values: object) =>
    listOf(only(render({ ...values }), "MutatingWebhookConfiguration"), "webhooks").map((entry) =>
      at(entry, "clientConfig", "caBundle"),
    );
  expect(bundlesOf({})).toEqual([undefined, undefined]);
  const caBundle = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----";
  const existing = { certificates: { mode: "existing", existing: { secretName: "tls", caBundle } } };
  for (const bundle of bundlesOf(existing)) {
    expect(Buffer.from(String(bundle), "base64").toString()).toBe(`${caBundle}\n`);
  }
});

test("conditions look before they read, so that a Pod without annotations is no error", () => {
  const expressions = entries.flatMap((entry) => entry.matchConditions.map(({ expression }) => expression));
  expect(expressions).toHaveLength(8);
  for (const expression of expressions) {
    for (const [, field] of expression.matchAll(
      /(?<!has\()object\.(metadata\.annotations|spec\.os|spec\.nodeSelector)/g,
    )) {
      expect(expression).toContain(`has(object.${field})`);
    }
  }
});
