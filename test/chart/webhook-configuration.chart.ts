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
  test.for(OPT_OUT_TABLE)("in %s labelled %j with labels %j by %s", ([name, namespaceLabels, podLabels, expected]) => {
    const namespace = { ...namespaceLabels, "kubernetes.io/metadata.name": name };
    const selected = expected === "none" ? [] : [`${expected}.drain.lastcall.dev`];
    expect(entriesWith(OPT_OUT, namespace, podLabels)).toEqual(selected);
  });

  test("and the reporting policy does not assume that the Pod opted in", () => {
    const message = (values: Values) => JSON.stringify(only(render(values), "ValidatingAdmissionPolicy"));
    expect(message({ ...OPT_OUT, admissionPolicy: { guards: false } })).toContain(
      "this Pod should be injected and was",
    );
    expect(message({ admissionPolicy: { guards: false } })).toContain("this Pod asked for injection and was");
  });
});

describe("the user's own conditions", () => {
  const injection = {
    namespaceSelector: { matchLabels: { stage: "test" } },
    objectSelector: {
      matchLabels: { team: "web" },
      matchExpressions: [{ key: "app", operator: "NotIn", values: ["cache"] }],
    },
  };
  const shop = { "kubernetes.io/metadata.name": "shop", stage: "test" };

  test.for(["opt-in", "opt-out"])("apply beside the chart's, in mode %s", (mode) => {
    const values = { injection: { ...injection, mode } };
    const asked = (namespace: Labels, pod: Labels) => entriesWith(values, { ...namespace, ...on }, pod).length;
    expect(asked(shop, { team: "web" })).toBe(1);
    expect(asked(shop, { team: "web", app: "cache" })).toBe(0);
    expect(asked(shop, { team: "data" })).toBe(0);
    expect(asked({ ...shop, stage: "live" }, { team: "web" })).toBe(0);
    expect(asked(shop, { ...off, team: "web" })).toBe(0);
    expect(asked({ ...shop, "kubernetes.io/metadata.name": "kube-system" }, { team: "web", ...on })).toBe(0);
  });

  test("match the Pods of the self-test, which carry the configured labels", () => {
    const values = { injection, selfTest: { podLabels: { tier: "front" } } };
    const pod = render(values).find(({ kind }) => kind === "Pod");
    const [, ...flags] = listOf<string>(pod, "spec", "containers", 0, "args");
    const { settings: options, problems: mistakes } = readOptions(flags);
    expect([mistakes, options.labels]).toEqual([[], { team: "web", tier: "front" }]);
    const labels = at(probePod(options, "enabled"), "metadata", "labels") as Labels;
    expect(entriesWith(values, shop, labels)).toEqual(["pod.drain.lastcall.dev"]);
  });
});

test.for(["defaults", "every namespace but some", "selectors of one's own"])(
  "the policy that reports has the selectors of the webhook, with %s",
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
  test.for(TABLE)("in %s labelled %j with labels %j by %s", ([name, namespaceLabels, podLabels, expected]) => {
    const namespace = { ...namespaceLabels, "kubernetes.io/metadata.name": name };
    const selected = entries.filter((entry) => chooses(entry, namespace, podLabels));
    expect(selected.map((entry) => entry.name)).toEqual(expected === "none" ? [] : [`${expected}.drain.lastcall.dev`]);
  });

  test("never in the release's own namespace, whatever its name is", () => {
    const manifests = render({}, { namespace: "elsewhere" });
    const own = [...injectingEntries(manifests), ...settingsEntries(manifests)];
    const labels = { ...on, "kubernetes.io/metadata.name": "elsewhere" };
    expect(own.filter((entry) => selects(entry.namespaceSelector, labels))).toEqual([]);
  });

  test("only at its creation, and for no other resource", () => {
    for (const entry of entries) {
      expect(entry["rules"]).toEqual([
        { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"], scope: "Namespaced" },
      ]);
    }
  });
});

test("the configuration sorts before those of service meshes and opts out of AKS' admission enforcer", () => {
  const names = ["istio-sidecar-injector", "linkerd-proxy-injector-webhook-config", configuration.metadata.name];
  expect(names.sort()[0]).toBe("drain.lastcall.dev");
  expect(configuration.metadata.annotations).toEqual({ "admissions.enforcer/disabled": "true" });
});

test("both entries are reinvoked after other webhooks, and declare their side effects", () => {
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

describe("settings are checked", () => {
  const [ofObjects, ofPods] = settingsEntries(render());
  const shop = { "kubernetes.io/metadata.name": "shop" };

  test("of Namespaces and workloads when they are created or changed", () => {
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
  ])("of a Pod in a namespace labelled %j with labels %j: %s", ([namespace, pod, isChosen]) => {
    expect(ofPods !== undefined && chooses(ofPods, { ...shop, ...namespace }, pod)).toBe(isChosen);
  });

  test("with a short timeout, in case the webhook is unreachable", () => {
    for (const entry of [ofObjects, ofPods]) {
      expect(entry).toMatchObject({ failurePolicy: "Ignore", timeoutSeconds: 2, sideEffects: "NoneOnDryRun" });
      expect(entry?.matchConditions.map(({ name }) => name)).toContain("has-settings");
    }
  });

  test("unless the values switch it off", () => {
    expect(settingsEntries(render({ injection: { checkSettings: false } }))).toEqual([]);
  });
});

describe("with failurePolicy Fail", () => {
  const configurations = (values: Values): readonly Manifest[] =>
    ofKind(render({ failurePolicy: "Fail", ...values }), "MutatingWebhookConfiguration");

  test("the release starts open, with an empty configuration that its replicas fill", () => {
    const [enforcing, open, ...others] = configurations({});
    expect([enforcing?.metadata.name, enforcing?.["webhooks"]]).toEqual(["enforce.lastcall.dev", undefined]);
    expect([open, ...others]).toEqual([configuration]);
  });

  test("the replicas get both names, and the namespace and labels for the proof of injection", () => {
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

test("a caBundle is rendered only if it is set", () => {
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

test("match conditions test for annotations first, so that a Pod without any is not an error", () => {
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
