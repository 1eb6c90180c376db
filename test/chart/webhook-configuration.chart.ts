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

/** Namespace, its labels, the Pod's labels, and which of the two entries asks about the Pod. */
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

/** The same in opt-out mode, with two further namespaces left alone. */
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

/** The names of the entries of these values that ask about a Pod with these labels. */
function askingWith(values: Values, namespace: Labels, pod: Labels): readonly string[] {
  return injectingEntries(render(values))
    .filter((entry) => chooses(entry, namespace, pod))
    .map(({ name }) => name);
}

describe("in opt-out mode the webhook is asked about a Pod", () => {
  test.for(OPT_OUT_TABLE)("in %s labelled %j with labels %j by %s", ([name, namespaceLabels, podLabels, expected]) => {
    const namespace = { ...namespaceLabels, "kubernetes.io/metadata.name": name };
    const asking = expected === "none" ? [] : [`${expected}.drain.lastcall.dev`];
    expect(askingWith(OPT_OUT, namespace, podLabels)).toEqual(asking);
  });

  test("and the policy that reports does not say that it asked", () => {
    const message = (values: Values) => JSON.stringify(only(render(values), "ValidatingAdmissionPolicy"));
    expect(message({ ...OPT_OUT, admissionPolicy: { guards: false } })).toContain(
      "this Pod should be injected and was",
    );
    expect(message({ admissionPolicy: { guards: false } })).toContain("this Pod asked for injection and was");
  });
});

describe("conditions of one's own", () => {
  const injection = {
    namespaceSelector: { matchLabels: { stage: "test" } },
    objectSelector: {
      matchLabels: { team: "web" },
      matchExpressions: [{ key: "app", operator: "NotIn", values: ["cache"] }],
    },
  };
  const shop = { "kubernetes.io/metadata.name": "shop", stage: "test" };

  test.for(["opt-in", "opt-out"])("hold beside the chart's, mode %s", (mode) => {
    const values = { injection: { ...injection, mode } };
    const asked = (namespace: Labels, pod: Labels) => askingWith(values, { ...namespace, ...on }, pod).length;
    expect(asked(shop, { team: "web" })).toBe(1);
    expect(asked(shop, { team: "web", app: "cache" })).toBe(0);
    expect(asked(shop, { team: "data" })).toBe(0);
    expect(asked({ ...shop, stage: "live" }, { team: "web" })).toBe(0);
    expect(asked(shop, { ...off, team: "web" })).toBe(0);
    expect(asked({ ...shop, "kubernetes.io/metadata.name": "kube-system" }, { team: "web", ...on })).toBe(0);
  });

  test("are met by the Pods of the self-test, which carry what the values ask for", () => {
    const values = { injection, selfTest: { podLabels: { tier: "front" } } };
    const pod = render(values).find(({ kind }) => kind === "Pod");
    const [, ...flags] = listOf<string>(pod, "spec", "containers", 0, "args");
    const { settings: options, problems: mistakes } = readOptions(flags);
    expect([mistakes, options.labels]).toEqual([[], { team: "web", tier: "front" }]);
    const labels = at(probePod(options, "enabled"), "metadata", "labels") as Labels;
    expect(askingWith(values, shop, labels)).toEqual(["pod.drain.lastcall.dev"]);
  });
});

test.for(["defaults", "every namespace but some", "selectors of one's own"])(
  "the policy that reports has the selectors of the webhook, with %s",
  (name) => {
    const manifests = render(MATRIX[name]);
    const bindings = ofKind(manifests, "ValidatingAdmissionPolicyBinding").filter(
      (binding) => at(binding, "spec", "policyName") === "uninjected.lastcall.dev",
    );
    const asking = injectingEntries(manifests);
    expect(bindings.map((binding) => at(binding, "spec", "matchResources"))).toEqual(
      asking.map(({ namespaceSelector, objectSelector }) => ({ namespaceSelector, objectSelector })),
    );
  },
);

describe("the webhook is asked about a Pod", () => {
  test.for(TABLE)("in %s labelled %j with labels %j by %s", ([name, namespaceLabels, podLabels, expected]) => {
    const namespace = { ...namespaceLabels, "kubernetes.io/metadata.name": name };
    const asking = entries.filter((entry) => chooses(entry, namespace, podLabels));
    expect(asking.map((entry) => entry.name)).toEqual(expected === "none" ? [] : [`${expected}.drain.lastcall.dev`]);
  });

  test("never in the release's own namespace, whatever its name is", () => {
    const manifests = render({}, { namespace: "elsewhere" });
    const own = [...injectingEntries(manifests), ...settingsEntries(manifests)];
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

describe("of what is not injected only settings are checked", () => {
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

  test("and a webhook that is away holds nothing up for long", () => {
    for (const entry of [ofObjects, ofPods]) {
      expect(entry).toMatchObject({ failurePolicy: "Ignore", timeoutSeconds: 2, sideEffects: "NoneOnDryRun" });
      expect(entry?.matchConditions.map(({ name }) => name)).toContain("has-settings");
    }
  });

  test("unless the values switch it off", () => {
    expect(settingsEntries(render({ injection: { checkSettings: false } }))).toEqual([]);
  });
});

describe("with Fail", () => {
  const configurations = (values: Values): readonly Manifest[] =>
    ofKind(render({ failurePolicy: "Fail", ...values }), "MutatingWebhookConfiguration");

  test("the release comes up open, with an empty configuration for its replicas to fill", () => {
    const [enforcing, open, ...others] = configurations({});
    expect([enforcing?.metadata.name, enforcing?.["webhooks"]]).toEqual(["enforce.lastcall.dev", undefined]);
    expect([open, ...others]).toEqual([configuration]);
  });

  test("the replicas are told both names, and where and with which labels to prove injection", () => {
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

test("a caBundle is rendered only when it is given", () => {
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
