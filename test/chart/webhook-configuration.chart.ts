import { describe, expect, test } from "vitest";
import { ANNOTATIONS, PREFIX } from "../../src/policy/fields.ts";
import { readSettings } from "../../src/webhook/config.ts";
import { readOptions } from "../../src/webhook/self-test/main.ts";
import { probePod } from "../../src/webhook/self-test/probe-pods.ts";
import { at, listOf, type Manifest, ofKind, only, render, type Values } from "./rendering.ts";
import { MATRIX } from "./values-matrix.ts";
import { chooses, injectingEntries, type Labels, selects, settingsEntries } from "./webhook-entries.ts";

const INJECT = `${PREFIX}${ANNOTATIONS.inject.name}`;

const configuration = only(render(), "MutatingWebhookConfiguration");
const entries = injectingEntries(render());

const on: Labels = { [INJECT]: "enabled" };
const off: Labels = { [INJECT]: "disabled" };

/** Namespace, its labels, the Pod's labels, and the entry that selects the Pod. */
const TABLE: readonly (readonly [string, Labels, Labels, string])[] = [
  ["shop", on, {}, "namespace"],
  ["shop", on, { app: "web" }, "namespace"],
  ["shop", on, on, "namespace"],
  ["shop", on, { [INJECT]: "yes" }, "namespace"],
  ["shop", on, off, "none"],
  ["shop", {}, {}, "none"],
  ["shop", {}, on, "pod"],
  ["shop", {}, off, "none"],
  ["shop", off, {}, "none"],
  ["shop", off, on, "pod"],
  ["shop", { [INJECT]: "true" }, {}, "none"],
  ["shop", { [INJECT]: "true" }, on, "pod"],
  ...["kube-system", "kube-public", "kube-node-lease", "lastcall"].flatMap((name) => [
    [name, on, {}, "none"] as const,
    [name, {}, on, "none"] as const,
    [name, on, on, "none"] as const,
  ]),
  ["lastcall-demo", on, {}, "namespace"],
];

/** The same in opt-out mode, with two more excluded namespaces. */
const OPT_OUT_TABLE: typeof TABLE = [
  ["shop", {}, {}, "namespace"],
  ["shop", on, {}, "namespace"],
  ["shop", {}, on, "namespace"],
  ["shop", { [INJECT]: "true" }, {}, "namespace"],
  ["shop", {}, off, "none"],
  ["shop", on, off, "none"],
  ["shop", off, {}, "none"],
  ["shop", off, on, "pod"],
  ["shop", off, off, "none"],
  ...["kube-system", "kube-public", "kube-node-lease", "lastcall", "calico-system", "istio-system"].flatMap((name) => [
    [name, {}, {}, "none"] as const,
    [name, on, {}, "none"] as const,
    [name, off, on, "none"] as const,
    [name, on, on, "none"] as const,
  ]),
];
const OPT_OUT = { injection: { mode: "opt-out", excludedNamespaces: ["calico-system", "istio-system"] } };

/** The names of the entries that select a Pod with these labels, rendered with these values. */
function entriesWith(values: Values, namespace: Labels, pod: Labels): readonly string[] {
  return injectingEntries(render(values))
    .filter((entry) => chooses(entry, namespace, pod))
    .map(({ name }) => name);
}

describe("in opt-out mode the webhook is called for a Pod", () => {
  test.for(OPT_OUT_TABLE)(
    "in namespace %s with labels %j if the Pod has labels %j: by %s",
    ([name, namespaceLabels, podLabels, expected]) => {
      const namespace = { ...namespaceLabels, "kubernetes.io/metadata.name": name };
      const selected = expected === "none" ? [] : [`${expected}.drain.lastcall.dev`];
      expect(entriesWith(OPT_OUT, namespace, podLabels)).toEqual(selected);
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

  test.for(["opt-in", "opt-out"])("apply together with the chart's, in mode %s", (mode) => {
    const values = { injection: { ...injection, mode } };
    const asked = (namespace: Labels, pod: Labels) => entriesWith(values, { ...namespace, ...on }, pod).length;
    expect(asked(shop, { team: "web" })).toBe(1);
    expect(asked(shop, { team: "web", app: "cache" })).toBe(0);
    expect(asked(shop, { team: "data" })).toBe(0);
    expect(asked({ ...shop, stage: "live" }, { team: "web" })).toBe(0);
    expect(asked(shop, { ...off, team: "web" })).toBe(0);
    expect(asked({ ...shop, "kubernetes.io/metadata.name": "kube-system" }, { team: "web", ...on })).toBe(0);
  });

  test("match the Pods of the self-test, which have the configured labels", () => {
    const values = { injection, selfTest: { podLabels: { tier: "front" } } };
    const pod = render(values).find(({ kind }) => kind === "Pod");
    const [, ...flags] = listOf<string>(pod, "spec", "containers", 0, "args");
    const { settings: options, problems: mistakes } = readOptions(flags);
    expect([mistakes, options.labels]).toEqual([[], { team: "web", tier: "front" }]);
    const labels = at(probePod(options, "enabled"), "metadata", "labels") as Labels;
    expect(entriesWith(values, shop, labels)).toEqual(["pod.drain.lastcall.dev"]);
  });
});

test.for(["defaults", "every namespace but some", "own selectors"])(
  "the reporting policy has the same selectors as the webhook, with %s",
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

describe("the webhook is called for a Pod", () => {
  test.for(TABLE)(
    "in namespace %s with labels %j if the Pod has labels %j: by %s",
    ([name, namespaceLabels, podLabels, expected]) => {
      const namespace = { ...namespaceLabels, "kubernetes.io/metadata.name": name };
      const selected = entries.filter((entry) => chooses(entry, namespace, podLabels));
      expect(selected.map((entry) => entry.name)).toEqual(
        expected === "none" ? [] : [`${expected}.drain.lastcall.dev`],
      );
    },
  );

  test("in no case in the release's namespace, whatever its name is", () => {
    const manifests = render({}, { namespace: "elsewhere" });
    const own = [...injectingEntries(manifests), ...settingsEntries(manifests)];
    const labels = { ...on, "kubernetes.io/metadata.name": "elsewhere" };
    expect(own.filter((entry) => selects(entry.namespaceSelector, labels))).toEqual([]);
  });

  test("only at the creation of a Pod, and for no other resource", () => {
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

test("both webhooks are reinvoked after other webhooks, and declare their side effects", () => {
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
    [{}, on, false],
    [{}, off, false],
    [on, { [INJECT]: "true" }, false],
    [{ "lastcall.dev/revision": "canary" }, {}, false],
  ])("in a namespace with labels %j for a Pod with labels %j: %s", ([namespace, pod, isChosen]) => {
    expect(ofPods !== undefined && chooses(ofPods, { ...shop, ...namespace }, pod)).toBe(isChosen);
  });

  test("with a short timeout, since it may be unreachable", () => {
    for (const entry of [ofObjects, ofPods]) {
      expect(entry).toMatchObject({ failurePolicy: "Ignore", timeoutSeconds: 2, sideEffects: "NoneOnDryRun" });
      expect(entry?.matchConditions.map(({ name }) => name)).toContain("has-settings");
    }
  });

  test("unless the chart's values disable it", () => {
    expect(settingsEntries(render({ injection: { checkSettings: false } }))).toEqual([]);
  });
});

describe("with failurePolicy Fail", () => {
  const configurations = (values: Values): readonly Manifest[] =>
    ofKind(render({ failurePolicy: "Fail", ...values }), "MutatingWebhookConfiguration");

  test("a new release admits Pods, with an empty configuration that the replicas fill", () => {
    const [enforcing, open, ...others] = configurations({});
    expect([enforcing?.metadata.name, enforcing?.["webhooks"]]).toEqual(["enforce.lastcall.dev", undefined]);
    expect([open, ...others]).toEqual([configuration]);
  });

  test("the replicas get flags for both configurations and the Pod that proves injection", () => {
    const injection = { objectSelector: { matchLabels: { team: "web" } } };
    const values = { failurePolicy: "Fail", revision: "canary", injection, selfTest: { namespace: "proofs" } };
    const args = listOf<string>(
      only(render(values), "Deployment"),
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

  test("the second configuration is called after the first, and before those of service meshes", () => {
    for (const revision of ["", "canary", "zz"]) {
      const names = configurations({ revision }).map(({ metadata }) => metadata.name);
      const [first, second] = [...names, "istio-sidecar-injector", "linkerd-proxy-injector-webhook-config"].sort();
      expect([first, second]).toEqual(names.sort());
      expect(first).toMatch(/^drain/);
    }
  });
});

test("the caBundle is rendered only if it is configured", () => {
  const bundlesOf = (values: object) =>
    listOf(only(render({ ...values }), "MutatingWebhookConfiguration"), "webhooks").map((entry) =>
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
