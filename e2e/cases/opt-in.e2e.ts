/** Tests selectors, match conditions and the reporting policy on a real API server. */
import type { V1Pod } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { dryRunCreate, isInjected } from "../client/create-pods.ts";
import { OPT_IN } from "../client/installation.ts";
import { RELEASE_NAMESPACE } from "../client/release.ts";
import { appContainer, barePod } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";

const suite = readSuite(process.env);
const INJECT_KEY = "lastcall.dev/inject";
const INJECT_VALUES = ["enabled", "disabled", undefined] as const;

type InjectValue = (typeof INJECT_VALUES)[number];

/**
 * Selectors match only labels, so an annotation cannot opt a Pod in; the webhook reads both, so either can opt a Pod out.
 *
 * | namespace | Pod's label | Pod's annotation | injected |
 * |---|---|---|---|
 * | any | disabled | any | no |
 * | any | any | disabled | no |
 * | enabled | absent or enabled | absent or enabled | yes |
 * | absent or disabled | enabled | absent or enabled | yes |
 * | absent or disabled | absent | absent or enabled | no |
 */
function isInjectionExpected(namespace: InjectValue, label: InjectValue, annotation: InjectValue): boolean {
  if (label === "disabled" || annotation === "disabled") return false;
  return namespace === "enabled" || label === "enabled";
}

describe("the injection", () => {
  for (const value of INJECT_VALUES) {
    const condition = value === undefined ? "without the label" : `with the label ${value}`;
    test(`follows the Pod's label and annotation in a namespace ${condition}`, async () => {
      const name = `opt-in-${value ?? "none"}`;
      await inNamespace(suite, name, { labels: injectEntry(value) }, async (namespace) => {
        const combinations = INJECT_VALUES.flatMap((label) =>
          INJECT_VALUES.map((annotation) => ({ label, annotation })),
        );
        const pods = combinations.map(({ label, annotation }) => probePod(namespace, label, annotation));
        const { pods: results, warnings } = await dryRunCreate(namespace.kubectl, pods);
        expect(results.map(isInjected)).toEqual(
          combinations.map(({ label, annotation }) => isInjectionExpected(value, label, annotation)),
        );
        // A Pod that opts in only by annotation gets a warning; a Pod that opts out does not.
        expect(warnings).toEqual(
          value === "enabled"
            ? []
            : [expect.stringContaining(`annotation ${INJECT_KEY}: The annotation has no effect`)],
        );
      });
    });
  }

  test("excludes system namespaces and lastcall's own namespace, for any labels of the Pod", async () => {
    await inNamespace(suite, "opt-in-system", {}, async (namespace) => {
      for (const excludedNamespace of ["kube-system", "kube-public", "kube-node-lease", RELEASE_NAMESPACE]) {
        const pod = probePod(namespace, "enabled", undefined);
        const movedPod = { ...pod, metadata: { ...pod.metadata, namespace: excludedNamespace } };
        const { pods, warnings } = await dryRunCreate(namespace.clusterKubectl, [movedPod]);
        expect([excludedNamespace, pods.map(isInjected), warnings]).toEqual([excludedNamespace, [false], []]);
      }
    });
  });
});

describe("a Pod that is intentionally not injected", () => {
  test("gets the reason if it opted in, and never the warning about a missing injection", async () => {
    await inNamespace(suite, "on-purpose", { labels: OPT_IN }, async (namespace) => {
      const hookFields = { lifecycle: { preStop: { exec: { command: ["/usr/local/bin/node", "-e", "0"] } } } };
      const container = appContainer(namespace);
      const { securityContext: _, ...plain } = container;
      const cases: readonly (readonly [V1Pod, string])[] = [
        [barePod(namespace, "job", [container], { pod: { restartPolicy: "Never" } }), ""],
        [barePod(namespace, "retried", [container], { pod: { restartPolicy: "OnFailure" } }), ""],
        [barePod(namespace, "windows", [plain], { pod: { os: { name: "windows" } } }), ""],
        [barePod(namespace, "selector", [plain], { pod: { nodeSelector: { "kubernetes.io/os": "windows" } } }), ""],
        [
          barePod(namespace, "old-selector", [plain], {
            pod: { nodeSelector: { "beta.kubernetes.io/os": "windows" } },
          }),
          "",
        ],
        [barePod(namespace, "affinity", [plain], { pod: { affinity: { nodeAffinity: WINDOWS_NODE_AFFINITY } } }), ""],
        [barePod(namespace, "host", [container], { pod: { hostNetwork: true } }), "hostNetwork"],
        [barePod(namespace, "zero", [container], { pod: { terminationGracePeriodSeconds: 0 } }), "grace period of 0"],
        [barePod(namespace, "hooked", [{ ...container, ...hookFields }]), "every container keeps its own preStop hook"],
        [
          barePod(namespace, "taken", [container, { ...container, name: "lastcall" }]),
          "another container of the Pod is named lastcall",
        ],
      ];
      for (const [pod, reason] of cases) {
        const { pods, warnings } = await dryRunCreate(namespace.kubectl, [pod]);
        expect([pod.metadata?.name, pods[0]?.spec?.containers.length]).toEqual([
          pod.metadata?.name,
          pod.spec?.containers.length,
        ]);
        expect(pods[0]?.spec?.initContainers ?? []).toEqual([]);
        expect([pod.metadata?.name, ...warnings.filter((line) => line.includes(POLICY_WARNING))]).toEqual([
          pod.metadata?.name,
        ]);
        const skipWarnings = warnings.filter((line) => line.startsWith("lastcall: not injected: "));
        expect([pod.metadata?.name, skipWarnings.length]).toEqual([pod.metadata?.name, reason === "" ? 0 : 1]);
        expect(skipWarnings.join("")).toContain(reason);
      }
    });
  });

  test("does not cause a warning about a missing injection in mode sleep", async () => {
    await inNamespace(suite, "on-purpose-sleep", { labels: OPT_IN }, async (namespace) => {
      const pod = barePod(namespace, "sleeping", [appContainer(namespace)], {
        annotations: { "lastcall.dev/mode": "sleep" },
      });
      const { pods, warnings } = await dryRunCreate(namespace.kubectl, [pod]);
      expect(pods[0]?.spec?.containers[0]?.lifecycle?.preStop?.sleep).toEqual({ seconds: 5 });
      expect(warnings).toEqual([]);
    });
  });
});

const WINDOWS_NODE_AFFINITY = {
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/os", operator: "In", values: ["windows"] }] }],
  },
};

/** The warning of the policy that reports Pods without injection. */
const POLICY_WARNING = "was created without injection";

function injectEntry(value: InjectValue): Readonly<Record<string, string>> {
  return value === undefined ? {} : { [INJECT_KEY]: value };
}

function probePod(namespace: CaseNamespace, label: InjectValue, annotation: InjectValue): V1Pod {
  const name = `label-${label ?? "none"}-annotation-${annotation ?? "none"}`;
  return barePod(namespace, name, [appContainer(namespace)], {
    labels: injectEntry(label),
    annotations: injectEntry(annotation),
  });
}
