/** Tests the manager in clusters that assign users by namespace, as OpenShift does. */
import type { KubernetesObject, V1Pod, V1SecurityContext } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { createAndDrain, DELETION_TRIGGER } from "../client/create-and-drain.ts";
import { managerOf } from "../client/injected-pods.ts";
import { OPT_IN } from "../client/installation.ts";
import { kubectlOf } from "../client/kubectl.ts";
import { APP, appContainer, barePod } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";
import { waitUntil } from "../host/wait.ts";

const suite = readSuite(process.env);
const UID_RANGE_ANNOTATION = "openshift.io/sa.scc.uid-range";
const ASSIGNED_USER = 1_000_620_000;
const SHORT_DRAIN = { "lastcall.dev/drain-delay": "1s", "lastcall.dev/quiet-period": "1s" };

// MutatingAdmissionPolicies exist from Kubernetes 1.36 on; in earlier versions only another webhook could assign users.
const GET_MUTATING_POLICIES = ["get", "mutatingadmissionpolicies.v1.admissionregistration.k8s.io"];
const canAssignUsers = (await kubectlOf(suite).attempt(GET_MUTATING_POLICIES)).status === 0;
const SKIP_REASON = canAssignUsers ? "" : " (skipped: this API server has no MutatingAdmissionPolicy v1)";

describe.skipIf(!canAssignUsers)(
  `in a cluster that assigns users by namespace and refuses other users${SKIP_REASON}`,
  () => {
    test("the manager runs and drains as the assigned user if the namespace has a user range", async () => {
      await withAssignedUsers("assigned-users", async (namespace) => {
        const manifest = appOf(namespace, SHORT_DRAIN);
        expect(await readRefusalReason(namespace, manifest)).toContain(`only user ${ASSIGNED_USER} may run here`);
        await namespace.clusterKubectl.run([
          "annotate",
          "namespace",
          namespace.name,
          `${UID_RANGE_ANNOTATION}=${ASSIGNED_USER}/10000`,
        ]);
        // lastcall's watch delivers the annotation with a delay.
        await waitUntil(
          { condition: "lastcall has received the user range", withinMs: 30_000, everyMs: 300 },
          async () => ((await readRefusalReason(namespace, manifest)) === "" ? true : undefined),
        );
        const { pod, report, warnings } = await createAndDrain(namespace, manifest);
        expect(managerOf(pod).securityContext).toMatchObject({ runAsUser: ASSIGNED_USER, runAsNonRoot: true });
        expect(warnings).toEqual([]);
        expect(report).toMatchObject({ outcome: "drained", trigger: DELETION_TRIGGER });
      });
    });

    test("the manager runs and drains as the assigned user if an annotation leaves the user unset", async () => {
      await withAssignedUsers("assigned-users-set", async (namespace) => {
        const { pod, report } = await createAndDrain(
          namespace,
          appOf(namespace, { ...SHORT_DRAIN, "lastcall.dev/run-as-user": "unset" }),
        );
        expect(managerOf(pod).securityContext).toMatchObject({ runAsUser: ASSIGNED_USER });
        expect(report).toMatchObject({ outcome: "drained", trigger: DELETION_TRIGGER });
      });
    });
  },
);

const OPT_OUT = { "lastcall.dev/inject": "disabled" };

/** Waits until the ValidatingAdmissionPolicy refuses other users, and the MutatingAdmissionPolicy sets missing users. */
async function waitForPolicies(namespace: CaseNamespace): Promise<void> {
  await waitUntil({ condition: "the policies on users are in force", withinMs: 60_000, everyMs: 300 }, async () => {
    const isRefused = (await readRefusalReason(namespace, appOf(namespace, OPT_OUT, { runAsUser: 7 }))) !== "";
    return isRefused && (await readRefusalReason(namespace, appOf(namespace, OPT_OUT))) === "" ? true : undefined;
  });
}

function appOf(namespace: CaseNamespace, annotations: Record<string, string>, user: V1SecurityContext = {}): V1Pod {
  const app = appContainer(namespace);
  const container = { ...app, securityContext: { ...app.securityContext, ...user } };
  return barePod(namespace, APP, [container], { annotations });
}

/** @returns the reason of the refusal; "" if the Pod is accepted */
async function readRefusalReason(namespace: CaseNamespace, pod: V1Pod): Promise<string> {
  const dryRunArgs = ["create", "--dry-run=server", "--filename=-"];
  const { status, stderr } = await namespace.kubectl.attempt(dryRunArgs, JSON.stringify(pod));
  return status === 0 ? "" : stderr;
}

async function withAssignedUsers(name: string, work: (namespace: CaseNamespace) => Promise<void>): Promise<void> {
  await inNamespace(suite, name, { labels: OPT_IN }, async (namespace) => {
    const policies = userPolicies(name);
    try {
      await namespace.apply(policies);
      await waitForPolicies(namespace);
      await work(namespace);
    } finally {
      for (const { kind, metadata } of policies)
        await namespace.clusterKubectl.run(["delete", kind ?? "", metadata?.name ?? "", "--ignore-not-found"]);
    }
  });
}

type Policy = KubernetesObject & { readonly spec: unknown };

/**
 * The MutatingAdmissionPolicy sets a missing user, also in containers that webhooks added; the ValidatingAdmissionPolicy
 * refuses every other user.
 */
function userPolicies(name: string): readonly Policy[] {
  const matchConstraints = {
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } },
    resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
  };
  const missingUserExpression = "!has(c.securityContext) || !has(c.securityContext.runAsUser)";
  const listExpressionOf = (list: string): string =>
    `has(object.spec.${list}) ? object.spec.${list}.map(c, ${missingUserExpression}, ` +
    `Object.spec.${list}{name: c.name, securityContext: Object.spec.${list}.securityContext{runAsUser: ${ASSIGNED_USER}}}) : []`;
  const mutationOf = (list: string) => ({
    patchType: "ApplyConfiguration",
    applyConfiguration: { expression: `Object{spec: Object.spec{${list}: ${listExpressionOf(list)}}}` },
  });
  const assignedUserPredicate = `c, has(c.securityContext) && has(c.securityContext.runAsUser) && c.securityContext.runAsUser == ${ASSIGNED_USER}`;
  const validations = [
    {
      expression: `object.spec.containers.all(${assignedUserPredicate})`,
      message: `only user ${ASSIGNED_USER} may run here`,
    },
    {
      expression: `!has(object.spec.initContainers) || object.spec.initContainers.all(${assignedUserPredicate})`,
      message: `only user ${ASSIGNED_USER} may run here`,
    },
  ];
  const versionField = { apiVersion: "admissionregistration.k8s.io/v1" };
  return [
    {
      ...versionField,
      kind: "MutatingAdmissionPolicy",
      metadata: { name: `${name}-assign` },
      spec: {
        matchConstraints,
        failurePolicy: "Fail",
        reinvocationPolicy: "IfNeeded",
        mutations: [mutationOf("containers"), mutationOf("initContainers")],
      },
    },
    {
      ...versionField,
      kind: "MutatingAdmissionPolicyBinding",
      metadata: { name: `${name}-assign` },
      spec: { policyName: `${name}-assign` },
    },
    {
      ...versionField,
      kind: "ValidatingAdmissionPolicy",
      metadata: { name: `${name}-validator` },
      spec: { matchConstraints, failurePolicy: "Fail", validations },
    },
    {
      ...versionField,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name: `${name}-validator` },
      spec: { policyName: `${name}-validator`, validationActions: ["Deny"] },
    },
  ];
}
