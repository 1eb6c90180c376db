/** The two Pods that the self-test asks for. Neither is ever kept: both are dry runs. */
import { ANNOTATIONS, PREFIX } from "../../policy/annotation-table.ts";

export type Wish = "enabled" | "disabled";

/** Passes the restricted Pod Security level, and quotas that demand amounts. No image is ever pulled. */
export function probePod(namespace: string, wish: Wish): object {
  const amounts = { cpu: "1m", memory: "1Mi" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      generateName: "lastcall-self-test-",
      namespace,
      labels: { [`${PREFIX}${ANNOTATIONS.inject.name}`]: wish },
    },
    spec: {
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: "probe",
          image: "lastcall-self-test:never-pulled",
          resources: { requests: amounts, limits: { cpu: "10m", memory: "16Mi" } },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
        },
      ],
    },
  };
}
