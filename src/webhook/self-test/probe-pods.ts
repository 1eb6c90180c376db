/** The Pods that the self-test asks for. Those that opt in or out are dry runs; one more may be started. */
import { MANAGER_CONTAINER } from "../../contract/manager-environment.ts";
import type { Labels } from "../../kubernetes/label-list.ts";
import { ANNOTATIONS, PREFIX } from "../../policy/fields.ts";

export type Wish = "enabled" | "disabled";

export type ProbeWish = {
  readonly namespace: string;
  readonly image: string;
  /** Beside the one that opts in or out; selectors of the webhook configuration may ask for some. */
  readonly labels: Labels;
};

export const MANAGER = MANAGER_CONTAINER;
export const PROBE = "probe";

/** Passes the restricted Pod Security level, and quotas that demand amounts. Names no user, so a cluster may assign one. */
export function probePod({ namespace, image, labels }: ProbeWish, wish: Wish): object {
  const amounts = { cpu: "1m", memory: "8Mi" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      generateName: "lastcall-self-test-",
      namespace,
      labels: { ...labels, [`${PREFIX}${ANNOTATIONS.inject.name}`]: wish },
    },
    spec: {
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: PROBE,
          image,
          // Only where it is started; it prints a line and ends.
          args: ["version"],
          resources: { requests: amounts, limits: { cpu: "10m", memory: "16Mi" } },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
        },
      ],
    },
  };
}

/** Opted in, of the manager's image in every container. */
export function startablePod(wanted: ProbeWish, name: string): object {
  const pod = probePod(wanted, "enabled") as { readonly metadata: object; readonly spec: object };
  const metadata = { ...pod.metadata, name, generateName: undefined };
  return { ...pod, metadata, spec: { ...pod.spec, restartPolicy: "Never" } };
}
