import { describe, expect, test } from "vitest";
import { ANNOTATIONS, PREFIX } from "../../src/policy/fields.ts";
import { readSettings } from "../../src/webhook/config.ts";
import { readOptions } from "../../src/webhook/self-test/main.ts";
import { probePod } from "../../src/webhook/self-test/probe-pods.ts";
import { at, listOf, type Manifest, ofKind, onlyOfKind, render, type Values } from "./rendering.ts";
import { MATRIX } from "./values-matrix.ts";
import { injectingEntries, type Labels, selects, selectsObject, settingsEntries } from "./webhook-entries.ts";

const INJECT = `${PREFIX}${ANNOTATIONS.inject.name}`;

const configuration = onlyOfKind(render(), "MutatingWebhookConfiguration");
const entries = injectingEntries(render());

const OPTED_IN: Labels = { [INJECT]: "enabled" };
const OPTED_OUT: Labels = { [INJECT]: "disabled" };

/** Namespace, its labels, the Pod's labels, and the entry that selects the Pod. */
const TABLE: readonly (readonly [string, Labels, Labels, string])[] = [
  ["shop", OPTED_IN, {}, "namespace"],
  ["shop", OPTED_IN, { app: "web" }, "namespace"],
  ["shop", OPTED_IN, OPTED_IN, "namespace"],
  ["shop", OPTED_IN, { [INJECT]: "yes" }, "namespace"],
  ["shop", OPTED_IN, OPTED_OUT, "none"],
  ["shop", {}, {}, "none"],
  ["shop", {}, OPTED_IN, "pod"],
  ["shop", {}, OPTED_OUT, "none"],
  ["shop", OPTED_OUT, {}, "none"],
  ["shop", OPTED_OUT, OPTED_IN, "pod"],
  ["shop", { [INJECT]: "true" }, {}, "none"],
  ["shop", { [INJECT]: "true" }, OPTED_IN, "pod"],
  ...["kube-system", "kube-public", "kube-node-lease", "lastcall"].flatMap((name) => [
    [name, OPTED_IN, {}, "none"] as const,
    [name, {}, OPTED_IN, "none"] as const,
    [name, OPTED_IN, OPTED_IN, "none"] as const,
  ]),
  ["lastcall-demo", OPTED_IN, {}, "namespace"],
];

/** Has the columns of `TABLE`, but for opt-out mode and two more excluded namespaces. */
const OPT_OUT_TABLE: typeof TABLE = [
  ["shop", {}, {}, "namespace"],
  ["shop", OPTED_IN, {}, "namespace"],
  ["shop", {}, OPTED_IN, "namespace"],
  ["shop", { [INJECT]: "true" }, {}, "namespace"],
  ["shop", {}, OPTED_OUT, "none"],
  ["shop", OPTED_IN, OPTED_OUT, "none"],
  ["shop", OPTED_OUT, {}, "none"],
  ["shop", OPTED_OUT, OPTED_IN, "pod"],
  ["shop", OPTED_OUT, OPTED_OUT, "none"],
  ...["kube-system", "kube-public", "kube-node-lease", "lastcall", "calico-system", "istio-system"].flatMap((name) => [
    [name, {}, {}, "none"] as const,
    [name, OPTED_IN, {}, "none"] as const,
    [name, OPTED_OUT, OPTED_IN, "none"] as const,
    [name, OPTED_IN, OPTED_IN, "none"] as const,
  ]),
];
const OPT_OUT = { injection: { mode: "opt-out", excludedNamespaces: ["calico-system", "istio-system"] } };

/** Returns the names of the entries that select a Pod with these labels in a chart with these values. */
function entriesFor(values: Values, namespace: Labels, pod: Labels): readonly string[] {
  return injectingEntries(render(values))
    .filter((entry) => selectsObject(entry, namespace, pod))
    .map(({ name }) => name);
}

describe("in opt-out mode the webhook that is called for a Pod", () => {
  test.for(OPT_OUT_TABLE)(
    "in namespace %s with labels %j and Pod labels %j is: %s",
    ([name, namespaceLabels, podLabels, expected]) => {
      const namespace = { ...namespaceLabels, "kubernetes.io/metadata.name": name };
      const selected = expected === "none" ? [] : [`${expected}.drain.lastcall.dev`];
      expect(entriesFor(OPT_OUT, namespace, podLabels)).toEqual(selected);
    },
  );
});

describe("configured selectors and match conditions", () => {
  const injection = {
    namespaceSelector: { matchLabels: { stage: "test" } },
    objectSelector: {
      matchLabels: { team: "web" },
      matchExpressions: [{ key: "app", operator: "NotIn", values: ["cache"] }],
    },
  };
  const shop = { "kubernetes.io/metadata.name": "shop", stage: "test" };

  test.for(["opt-in", "opt-out"])("apply in addition to the chart's own, in %s mode", (mode) => {
    const values = { injection: { ...injection, mode } };
    const countEntries = (namespace: Labels, pod: Labels) =>
      entriesFor(values, { ...namespace, ...OPTED_IN }, pod).length;
    expect(countEntries(shop, { team: "web" })).toBe(1);
    expect(countEntries(shop, { team: "web", app: "cache" })).toBe(0);
    expect(countEntries(shop, { team: "data" })).toBe(0);
    expect(countEntries({ ...shop, stage: "live" }, { team: "web" })).toBe(0);
    expect(countEntries(shop, { ...OPTED_OUT, team: "web" })).toBe(0);
    expect(countEntries({ ...shop, "kubernetes.io/metadata.name": "kube-system" }, { team: "web", ...OPTED_IN })).toBe(
      0,
    );
  });

  test("match the Pods of the self-test, which have the configured labels", () => {
    const values = { injection, selfTest: { podLabels: { tier: "front" } } };
    const pod = render(values).find(({ kind }) => kind === "Pod");
    const [, ...flags] = listOf<string>(pod, "spec", "containers", 0, "args");
    const { settings: options, problems } = readOptions(flags);
    expect([problems, options.labels]).toEqual([[], { team: "web", tier: "front" }]);
    const labels = at(probePod(options, "enabled"), "metadata", "labels") as Labels;
    expect(entriesFor(values, shop, labels)).toEqual(["pod.drain.lastcall.dev"]);
  });
});

test.for(["defaults", "opt-out mode with excluded namespaces", "own selectors"])(
  "the bindings of the policy for uninjected Pods have the same selectors as the webhook, with %s",
  (name) => {
    const manifests = render(MATRIX[name]);
    const bindings = ofKind(manifests, "ValidatingAdmissionPolicyBinding").filter(
      (binding) => at(binding, "spec", "policyName") === "uninjected.lastcall.dev",
    );
    const selected = injectingEntries(manifests);
    expect(bindings.map((binding) => at(binding, "spec", "matchResources"))).toEqual(
      selected.map(({ namespaceSelector, objectSelector }) => ({ namespaceSelector, objectSelector })),
    );
  },
);

describe("the webhook that is called for a Pod", () => {
  test.for(TABLE)(
    "in namespace %s with labels %j and Pod labels %j is: %s",
    ([name, namespaceLabels, podLabels, expected]) => {
      const namespace = { ...namespaceLabels, "kubernetes.io/metadata.name": name };
      const selected = entries.filter((entry) => selectsObject(entry, namespace, podLabels));
      expect(selected.map((entry) => entry.name)).toEqual(
        expected === "none" ? [] : [`${expected}.drain.lastcall.dev`],
      );
    },
  );

  test("does not exist if the Pod is in the release's namespace", () => {
    const manifests = render({}, { namespace: "elsewhere" });
    const webhooks = [...injectingEntries(manifests), ...settingsEntries(manifests)];
    const labels = { ...OPTED_IN, "kubernetes.io/metadata.name": "elsewhere" };
    expect(webhooks.filter((entry) => selects(entry.namespaceSelector, labels))).toEqual([]);
  });

  test("is called only at the creation of the Pod, and for no other resource", () => {
    for (const entry of entries) {
      expect(entry["rules"]).toEqual([
        { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"], scope: "Namespaced" },
      ]);
    }
  });
});

test("the webhook configuration sorts before those of meshes and opts out of AKS' admission enforcer", () => {
  const names = ["istio-sidecar-injector", "linkerd-proxy-injector-webhook-config", configuration.metadata.name];
  expect(names.sort()[0]).toBe("drain.lastcall.dev");
  expect(configuration.metadata.annotations).toEqual({ "admissions.enforcer/disabled": "true" });
});

test("every webhook that injects Pods is reinvoked after other webhooks, and declares its side effects", () => {
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

describe("the settings webhook is called", () => {
  const [ofObjects, ofPods] = settingsEntries(render());
  const shop = { "kubernetes.io/metadata.name": "shop" };

  test("for Namespaces and workloads that are created or updated", () => {
    expect(listOf(ofObjects, "rules").flatMap((rule) => listOf(rule, "resources"))).toEqual([
      ...["namespaces", "deployments", "statefulsets", "daemonsets", "cronjobs", "jobs"],
    ]);
    expect(ofObjects?.objectSelector).toBeUndefined();
    expect(selects(ofObjects?.namespaceSelector ?? {}, shop)).toBe(true);
  });

  test.for<[Labels, Labels, boolean]>([
    [{}, {}, true],
    [{}, { [INJECT]: "true" }, true],
    [{ [INJECT]: "true" }, {}, true],
    [{}, OPTED_IN, false],
    [{}, OPTED_OUT, false],
    [OPTED_IN, { [INJECT]: "true" }, false],
    [{ "lastcall.dev/revision": "canary" }, {}, false],
  ])("in a namespace with labels %j for a Pod with labels %j; expected: %s", ([namespace, pod, isSelected]) => {
    expect(ofPods !== undefined && selectsObject(ofPods, { ...shop, ...namespace }, pod)).toBe(isSelected);
  });

  test("with a short timeout, because the webhook may be unreachable", () => {
    for (const entry of [ofObjects, ofPods]) {
      expect(entry).toMatchObject({ failurePolicy: "Ignore", timeoutSeconds: 2, sideEffects: "NoneOnDryRun" });
      expect(entry?.matchConditions.map(({ name }) => name)).toContain("has-settings");
    }
  });

  test("unless the chart's values disable the check of settings", () => {
    expect(settingsEntries(render({ injection: { checkSettings: false } }))).toEqual([]);
  });
});

describe("with failurePolicy Fail", () => {
  const configurationsOf = (values: Values): readonly Manifest[] =>
    ofKind(render({ failurePolicy: "Fail", ...values }), "MutatingWebhookConfiguration");

  test("a new release admits Pods, with an empty configuration that the replicas fill", () => {
    const [enforcing, reporting, ...others] = configurationsOf({});
    expect([enforcing?.metadata.name, enforcing?.["webhooks"]]).toEqual(["enforce.lastcall.dev", undefined]);
    expect([reporting, ...others]).toEqual([configuration]);
  });

  test("the replicas get flags for both configurations and the Pod that proves injection", () => {
    const injection = { objectSelector: { matchLabels: { team: "web" } } };
    const values = { failurePolicy: "Fail", revision: "canary", injection, selfTest: { namespace: "proofs" } };
    const args = listOf<string>(
      onlyOfKind(render(values), "Deployment"),
      "spec",
      "template",
      "spec",
      "containers",
      0,
      "args",
    );
    const [, ...flags] = args;
    expect(readSettings(flags, {}).settings).toMatchObject({
      enforceConfiguration: "enforce-canary.lastcall.dev",
      enforceCopies: "drain-canary.lastcall.dev",
      proofNamespace: "proofs",
      proofLabels: { team: "web", "lastcall.dev/revision": "canary" },
    });
  });

  test("the fail-closed configuration sorts after the release's other configuration, and before those of service meshes", () => {
    for (const revision of ["", "canary", "zz"]) {
      const names = configurationsOf({ revision }).map(({ metadata }) => metadata.name);
      const [first, second] = [...names, "istio-sidecar-injector", "linkerd-proxy-injector-webhook-config"].sort();
      expect([first, second]).toEqual(names.sort());
      expect(first).toMatch(/^drain/);
    }
  });
});

test("the caBundle is rendered only if it is configured", () => {
  const bundlesOf = (values: object) =>
    listOf(onlyOfKind(render({ ...values }), "MutatingWebhookConfiguration"), "webhooks").map((entry) =>
      at(entry, "clientConfig", "caBundle"),
    );
  expect(new Set(bundlesOf({}))).toEqual(new Set([undefined]));
  const caBundle = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----";
  const existing = { certificates: { mode: "existing", existing: { secretName: "tls", caBundle } } };
  for (const bundle of bundlesOf(existing)) {
    expect(Buffer.from(String(bundle), "base64").toString()).toBe(`${caBundle}\n`);
  }
});

test("match conditions are valid for a Pod without annotations", () => {
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
