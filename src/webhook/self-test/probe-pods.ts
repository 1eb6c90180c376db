/** Builds the Pods of the self-test: two Pods for dry runs, and a Pod that is started. */
import { MANAGER_CONTAINER } from "../../contract/manager-environment.ts";
import type { Labels } from "../../kubernetes/label-list.ts";
import { ANNOTATIONS, PREFIX } from "../../policy/fields.ts";

export type OptIn = "enabled" | "disabled";

export type ProbeSpec = {
  readonly namespace: string;
  readonly image: string;
  /** In addition to the opt-in label; the selectors of the webhook configuration may require other labels. */
  readonly labels: Labels;
};

export const MANAGER = MANAGER_CONTAINER;
export const PROBE_CONTAINER = "probe";

/** Complies with the Pod Security level `restricted` and with quotas that require resources. OpenShift may assign the user. */
export function probePod({ namespace, image, labels }: ProbeSpec, optIn: OptIn): object {
  const amounts = { cpu: "1m", memory: "8Mi" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      generateName: "lastcall-self-test-",
      namespace,
      labels: { ...labels, [`${PREFIX}${ANNOTATIONS.inject.name}`]: optIn },
    },
    spec: {
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: PROBE_CONTAINER,
          image,
          args: ["version"],
          resources: { requests: amounts, limits: { cpu: "10m", memory: "16Mi" } },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
        },
      ],
    },
  };
}

export function startablePod(probe: ProbeSpec, name: string): object {
  const pod = probePod(probe, "enabled") as { readonly metadata: object; readonly spec: object };
  const metadata = { ...pod.metadata, name, generateName: undefined };
  return { ...pod, metadata, spec: { ...pod.spec, restartPolicy: "Never" } };
}
