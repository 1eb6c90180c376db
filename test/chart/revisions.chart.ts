import { describe, expect, test } from "vitest";
import { type Release, selectionOf } from "../../src/injection/opt-in/selection.ts";
import { readOptions } from "../../src/webhook/self-test/main.ts";
import { probePod } from "../../src/webhook/self-test/probe-pods.ts";
import { at, complaint, isHook, listOf, only, render, type Values } from "./rendering.ts";
import { chooses, type Entry, injectingEntries, type Labels, settingsEntries } from "./webhook-entries.ts";

const entriesOf = (values: Values, namespace = "lastcall"): readonly Entry[] =>
  injectingEntries(render(values, { namespace }));

const checksOf = (values: Values, namespace = "lastcall"): readonly Entry[] =>
  settingsEntries(render(values, { namespace }));

const RELEASES = {
  stable: entriesOf({}),
  canary: entriesOf({ revision: "canary" }, "lastcall-canary"),
  next: entriesOf({ revision: "next", injection: { mode: "opt-out" } }, "lastcall-next"),
};

/** The same releases, in the form of the command line. */
const DESCRIBED: Readonly<Record<keyof typeof RELEASES, Release>> = {
  stable: { revision: "", injection: "opt-in" },
  canary: { revision: "canary", injection: "opt-in" },
  next: { revision: "next", injection: "opt-out" },
};

/** Names of all entries, of all releases, that select a Pod. */
function entriesFor(namespace: Labels, pod: Labels): readonly string[] {
  return Object.values(RELEASES)
    .flat()
    .filter((entry) => chooses(entry, namespace, pod))
    .map(({ name }) => name);
}

const INJECT = "lastcall.dev/inject";
const REVISION = "lastcall.dev/revision";
const shop = { "kubernetes.io/metadata.name": "shop" };
const labelled = (inject: string | undefined, revision: string | undefined): Labels => ({
  ...(inject === undefined ? {} : { [INJECT]: inject }),
  ...(revision === undefined ? {} : { [REVISION]: revision }),
});

const ON = "enabled";
/** Labels of namespace and Pod: the opt-in and the revision. */
const TABLE: readonly (readonly [Labels, Labels, string | undefined])[] = [
  [labelled(ON, undefined), {}, "namespace.drain.lastcall.dev"],
  [{}, labelled(ON, undefined), "pod.drain.lastcall.dev"],
  [labelled(ON, "canary"), {}, "namespace.drain-canary.lastcall.dev"],
  [labelled(undefined, "canary"), labelled(ON, undefined), "pod.drain-canary.lastcall.dev"],
  [labelled(ON, undefined), labelled(undefined, "canary"), "namespace-own-revision.drain-canary.lastcall.dev"],
  [{}, labelled(ON, "canary"), "pod-own-revision.drain-canary.lastcall.dev"],
  [labelled(ON, "next"), labelled(undefined, "canary"), "namespace-own-revision.drain-canary.lastcall.dev"],
  [labelled(ON, "canary"), labelled("disabled", undefined), undefined],
  [labelled(ON, "gone"), {}, undefined],
  [labelled(ON, undefined), labelled(undefined, "gone"), undefined],
  [labelled(undefined, "canary"), {}, undefined],
  [labelled(undefined, "next"), {}, "namespace.drain-next.lastcall.dev"],
];

describe("with several releases in one cluster", () => {
  test.for(TABLE)(
    "in a namespace with labels %j, a Pod with labels %j is selected by %s",
    ([namespace, pod, expected]) => {
      expect(entriesFor({ ...shop, ...namespace }, pod)).toEqual(expected === undefined ? [] : [expected]);
    },
  );

  const words = [undefined, ON, "disabled", "true"];
  const revisions = [undefined, "canary", "next", "gone", ""];
  const all = words.flatMap((inject) => revisions.map((revision) => labelled(inject, revision)));

  test.for(["stable", "canary", "next"] as const)(
    "the command line selects the same Pods as the release %s",
    (name) => {
      const differences = all.flatMap((namespace) =>
        all.flatMap((pod) => {
          const bySelectors = RELEASES[name].some((entry) => chooses(entry, { ...shop, ...namespace }, pod));
          const { kind } = selectionOf({ metadata: { labels: pod } }, namespace, DESCRIBED[name]);
          return bySelectors === (kind === "selected") ? [] : [JSON.stringify([namespace, pod])];
        }),
      );
      expect(differences).toEqual([]);
    },
  );

  test("the selection of a Pod in an unknown namespace is open unless the Pod's labels decide", () => {
    const wrong = Object.values(DESCRIBED).flatMap((release) =>
      all.filter((pod) => {
        const raw = { metadata: { labels: pod } };
        const known = new Set(all.map((namespace) => selectionOf(raw, namespace, release).kind));
        const { kind } = selectionOf(raw, undefined, release);
        return kind === "not-selected" ? known.has("selected") : !known.has("selected");
      }),
    );
    expect(wrong).toEqual([]);
  });

  test("no two releases select the same Pod, with any labels", () => {
    const twice = all.flatMap((namespace) =>
      all
        .filter((pod) => entriesFor({ ...shop, ...namespace }, pod).length > 1)
        .map((pod) => JSON.stringify([namespace, pod])),
    );
    expect(twice).toEqual([]);
  });

  test("no two releases check the settings of the same object, and none those of an injected Pod", () => {
    const checks = [
      checksOf({}),
      checksOf({ revision: "canary" }, "lastcall-canary"),
      checksOf({ revision: "next", injection: { mode: "opt-out" } }, "lastcall-next"),
    ].flat();
    const isOfPods = ({ name }: Entry): boolean => name.startsWith("pod-settings.");
    const twice = all.flatMap((namespace) => {
      const ofObject = checks.filter((entry) => !isOfPods(entry) && chooses(entry, { ...shop, ...namespace }, {}));
      const pods = all.filter((pod) => {
        const checked = checks.filter((entry) => isOfPods(entry) && chooses(entry, { ...shop, ...namespace }, pod));
        return checked.length + entriesFor({ ...shop, ...namespace }, pod).length > 1;
      });
      return ofObject.length > 1 || pods.length > 0 ? [JSON.stringify([namespace, pods])] : [];
    });
    expect(twice).toEqual([]);
  });

  test("two releases have no object in common, in one namespace or two, with any names", () => {
    const named = (values: Values, namespace: string) =>
      render({ ...values, monitoring: MONITORED, failurePolicy: "Fail" }, { namespace }).map(
        ({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`,
      );
    const stable = named({}, "lastcall");
    for (const namespace of ["lastcall", "elsewhere"]) {
      const canary = named({ revision: "canary" }, namespace);
      expect(canary.filter((name) => stable.includes(name))).toEqual([]);
    }
  });

  test("two releases of one revision share the webhook configuration, so that Helm refuses the second", () => {
    const configuration = (values: Values) => only(render(values), "MutatingWebhookConfiguration").metadata.name;
    expect(configuration({ fullnameOverride: "other", revision: "canary" })).toBe("drain-canary.lastcall.dev");
    expect(configuration({ fullnameOverride: "other" })).toBe("drain.lastcall.dev");
  });

  test("no release selects the Pods of another release", () => {
    const pods = render({ revision: "canary" }).filter(({ kind }) => kind === "Pod" || kind === "Deployment");
    expect(pods.map(isHook)).toEqual([false, true]);
    for (const one of pods) {
      const labels = (at(one, "spec", "template", "metadata", "labels") ?? one.metadata.labels) as Labels;
      expect(entriesFor({ ...shop, ...labelled(ON, "canary") }, labels)).toEqual([]);
      expect(entriesFor({ ...shop, ...labelled(undefined, "next") }, labels)).toEqual([]);
    }
  });

  test("the Pods of the self-test have the label of the tested revision", () => {
    const pod = render({ revision: "canary" }).find(({ kind }) => kind === "Pod");
    const [, ...flags] = listOf<string>(pod, "spec", "containers", 0, "args");
    const labels = at(probePod(readOptions(flags).settings, "enabled"), "metadata", "labels") as Labels;
    expect(entriesFor(shop, labels)).toEqual(["pod-own-revision.drain-canary.lastcall.dev"]);
  });
});

const MONITORED = {
  serviceMonitor: { enabled: true },
  prometheusRule: { enabled: true },
  dashboard: { enabled: true },
};

test("the webhook configuration of every release sorts before those of service meshes", () => {
  const name = only(render({ revision: "zz" }), "MutatingWebhookConfiguration").metadata.name;
  expect([name, "istio-sidecar-injector", "linkerd-proxy-injector-webhook-config"].sort()[0]).toBe(name);
});

test("a release name and a revision that are too long together are rejected", () => {
  const values = { nameOverride: "a".repeat(40), revision: "b".repeat(20) };
  expect(complaint(values)).toContain("that is longer than the 63 letters of a Service's name");
  expect(complaint({ ...values, fullnameOverride: "short" })).toBe("");
});
