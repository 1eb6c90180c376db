import { describe, expect, test } from "vitest";
import { type Release, selectionOf } from "../../src/injection/opt-in/selection.ts";
import { readOptions } from "../../src/webhook/self-test/main.ts";
import { probePod } from "../../src/webhook/self-test/probe-pods.ts";
import { at, isHook, listOf, onlyOfKind, render, renderError, type Values } from "./rendering.ts";
import { type Entry, injectingEntries, type Labels, selectsObject, settingsEntries } from "./webhook-entries.ts";

const injectingEntriesOf = (values: Values, namespace = "lastcall"): readonly Entry[] =>
  injectingEntries(render(values, { namespace }));

const settingsEntriesOf = (values: Values, namespace = "lastcall"): readonly Entry[] =>
  settingsEntries(render(values, { namespace }));

const ENTRIES_BY_RELEASE = {
  stable: injectingEntriesOf({}),
  canary: injectingEntriesOf({ revision: "canary" }, "lastcall-canary"),
  next: injectingEntriesOf({ revision: "next", injection: { mode: "opt-out" } }, "lastcall-next"),
};

/** The releases of `ENTRIES_BY_RELEASE` in the form in which the command line receives them. */
const CLI_RELEASES: Readonly<Record<keyof typeof ENTRIES_BY_RELEASE, Release>> = {
  stable: { revision: "", injection: "opt-in" },
  canary: { revision: "canary", injection: "opt-in" },
  next: { revision: "next", injection: "opt-out" },
};

/** Returns the names of the entries of all releases that select a Pod. */
function entriesFor(namespace: Labels, pod: Labels): readonly string[] {
  return Object.values(ENTRIES_BY_RELEASE)
    .flat()
    .filter((entry) => selectsObject(entry, namespace, pod))
    .map(({ name }) => name);
}

const INJECT = "lastcall.dev/inject";
const REVISION = "lastcall.dev/revision";
const shop = { "kubernetes.io/metadata.name": "shop" };
const labelsWith = (inject: string | undefined, revision: string | undefined): Labels => ({
  ...(inject === undefined ? {} : { [INJECT]: inject }),
  ...(revision === undefined ? {} : { [REVISION]: revision }),
});

const ENABLED = "enabled";
/** Labels of the namespace, labels of the Pod, and the entry that selects the Pod. */
const TABLE: readonly (readonly [Labels, Labels, string | undefined])[] = [
  [labelsWith(ENABLED, undefined), {}, "namespace.drain.lastcall.dev"],
  [{}, labelsWith(ENABLED, undefined), "pod.drain.lastcall.dev"],
  [labelsWith(ENABLED, "canary"), {}, "namespace.drain-canary.lastcall.dev"],
  [labelsWith(undefined, "canary"), labelsWith(ENABLED, undefined), "pod.drain-canary.lastcall.dev"],
  [labelsWith(ENABLED, undefined), labelsWith(undefined, "canary"), "namespace-own-revision.drain-canary.lastcall.dev"],
  [{}, labelsWith(ENABLED, "canary"), "pod-own-revision.drain-canary.lastcall.dev"],
  [labelsWith(ENABLED, "next"), labelsWith(undefined, "canary"), "namespace-own-revision.drain-canary.lastcall.dev"],
  [labelsWith(ENABLED, "canary"), labelsWith("disabled", undefined), undefined],
  [labelsWith(ENABLED, "uninstalled"), {}, undefined],
  [labelsWith(ENABLED, undefined), labelsWith(undefined, "uninstalled"), undefined],
  [labelsWith(undefined, "canary"), {}, undefined],
  [labelsWith(undefined, "next"), {}, "namespace.drain-next.lastcall.dev"],
];

describe("with several releases in one cluster", () => {
  test.for(TABLE)(
    "in a namespace with labels %j, a Pod with labels %j is selected by %s",
    ([namespace, pod, expected]) => {
      expect(entriesFor({ ...shop, ...namespace }, pod)).toEqual(expected === undefined ? [] : [expected]);
    },
  );

  const injectValues = [undefined, ENABLED, "disabled", "true"];
  const revisions = [undefined, "canary", "next", "uninstalled", ""];
  const labelSets = injectValues.flatMap((inject) => revisions.map((revision) => labelsWith(inject, revision)));

  test.for(["stable", "canary", "next"] as const)(
    "the command line selects the same Pods as the release %s",
    (name) => {
      const differences = labelSets.flatMap((namespace) =>
        labelSets.flatMap((pod) => {
          const isSelected = ENTRIES_BY_RELEASE[name].some((entry) =>
            selectsObject(entry, { ...shop, ...namespace }, pod),
          );
          const { kind } = selectionOf({ metadata: { labels: pod } }, namespace, CLI_RELEASES[name]);
          return isSelected === (kind === "selected") ? [] : [JSON.stringify([namespace, pod])];
        }),
      );
      expect(differences).toEqual([]);
    },
  );

  test("the selection of a Pod in an unknown namespace is undetermined unless the Pod's labels decide it", () => {
    const differences = Object.values(CLI_RELEASES).flatMap((release) =>
      labelSets.filter((pod) => {
        const raw = { metadata: { labels: pod } };
        const kinds = new Set(labelSets.map((namespace) => selectionOf(raw, namespace, release).kind));
        const { kind } = selectionOf(raw, undefined, release);
        return kind === "not-selected" ? kinds.has("selected") : !kinds.has("selected");
      }),
    );
    expect(differences).toEqual([]);
  });

  test("no two releases select the same Pod, whatever its labels are", () => {
    const selectedTwice = labelSets.flatMap((namespace) =>
      labelSets
        .filter((pod) => entriesFor({ ...shop, ...namespace }, pod).length > 1)
        .map((pod) => JSON.stringify([namespace, pod])),
    );
    expect(selectedTwice).toEqual([]);
  });

  test("no two releases check the settings of the same object, and no release checks those of a Pod that a release injects", () => {
    const checks = [
      settingsEntriesOf({}),
      settingsEntriesOf({ revision: "canary" }, "lastcall-canary"),
      settingsEntriesOf({ revision: "next", injection: { mode: "opt-out" } }, "lastcall-next"),
    ].flat();
    const isForPods = ({ name }: Entry): boolean => name.startsWith("pod-settings.");
    const checkedTwice = labelSets.flatMap((namespace) => {
      const objectEntries = checks.filter(
        (entry) => !isForPods(entry) && selectsObject(entry, { ...shop, ...namespace }, {}),
      );
      const podLabels = labelSets.filter((pod) => {
        const podEntries = checks.filter(
          (entry) => isForPods(entry) && selectsObject(entry, { ...shop, ...namespace }, pod),
        );
        return podEntries.length + entriesFor({ ...shop, ...namespace }, pod).length > 1;
      });
      return objectEntries.length > 1 || podLabels.length > 0 ? [JSON.stringify([namespace, podLabels])] : [];
    });
    expect(checkedTwice).toEqual([]);
  });

  test("two releases have no object in common, in one namespace or in two", () => {
    const objectNamesOf = (values: Values, namespace: string) =>
      render({ ...values, monitoring: MONITORING, failurePolicy: "Fail" }, { namespace }).map(
        ({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`,
      );
    const stableNames = objectNamesOf({}, "lastcall");
    for (const namespace of ["lastcall", "elsewhere"]) {
      const canaryNames = objectNamesOf({ revision: "canary" }, namespace);
      expect(canaryNames.filter((name) => stableNames.includes(name))).toEqual([]);
    }
  });

  test("two releases of one revision share the webhook configuration, so that Helm refuses the second release", () => {
    const configurationNameOf = (values: Values) =>
      onlyOfKind(render(values), "MutatingWebhookConfiguration").metadata.name;
    expect(configurationNameOf({ fullnameOverride: "other", revision: "canary" })).toBe("drain-canary.lastcall.dev");
    expect(configurationNameOf({ fullnameOverride: "other" })).toBe("drain.lastcall.dev");
  });

  test("no release selects the Pods of another release", () => {
    const pods = render({ revision: "canary" }).filter(({ kind }) => kind === "Pod" || kind === "Deployment");
    expect(pods.map(isHook)).toEqual([false, true]);
    for (const pod of pods) {
      const labels = (at(pod, "spec", "template", "metadata", "labels") ?? pod.metadata.labels) as Labels;
      expect(entriesFor({ ...shop, ...labelsWith(ENABLED, "canary") }, labels)).toEqual([]);
      expect(entriesFor({ ...shop, ...labelsWith(undefined, "next") }, labels)).toEqual([]);
    }
  });

  test("the Pods of the self-test have the label of the tested revision", () => {
    const pod = render({ revision: "canary" }).find(({ kind }) => kind === "Pod");
    const [, ...flags] = listOf<string>(pod, "spec", "containers", 0, "args");
    const labels = at(probePod(readOptions(flags).settings, "enabled"), "metadata", "labels") as Labels;
    expect(entriesFor(shop, labels)).toEqual(["pod-own-revision.drain-canary.lastcall.dev"]);
  });
});

const MONITORING = {
  serviceMonitor: { enabled: true },
  prometheusRule: { enabled: true },
  dashboard: { enabled: true },
};

test("the webhook configuration of every release sorts before those of service meshes", () => {
  const name = onlyOfKind(render({ revision: "zz" }), "MutatingWebhookConfiguration").metadata.name;
  expect([name, "istio-sidecar-injector", "linkerd-proxy-injector-webhook-config"].sort()[0]).toBe(name);
});

test("a name and a revision are rejected if they are too long together", () => {
  const values = { nameOverride: "a".repeat(40), revision: "b".repeat(20) };
  expect(renderError(values)).toContain("expected at most 63 characters; shorten nameOverride or revision");
  expect(renderError({ ...values, fullnameOverride: "short" })).toBe("");
});
