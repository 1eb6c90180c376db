/** Reads the fields of a Pod manifest that the runner uses. Pure. */
import { listAt, numberAt, objectAt, textAt, textsAt } from "../json.ts";
import { podGraceSeconds, type StopSignal, stopSignalOf } from "./kubelet-rules.ts";

export type Handler =
  | { readonly kind: "exec"; readonly command: readonly string[] }
  | {
      readonly kind: "httpGet";
      readonly host: string | undefined;
      readonly port: number;
      readonly path: string;
      readonly secure: boolean;
      readonly headers: Readonly<Record<string, string>>;
    }
  | { readonly kind: "tcpSocket"; readonly port: number }
  | { readonly kind: "sleep"; readonly seconds: number };

export type ProbePlan = {
  readonly handler: Handler;
  readonly periodMs: number;
  readonly initialDelayMs: number;
  readonly timeoutMs: number;
};

type VariablePlan = { readonly name: string; readonly value: string; readonly fieldPath: string };

export type ContainerPlan = {
  readonly name: string;
  readonly role: "init" | "sidecar" | "regular";
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly directory: string | undefined;
  readonly variables: readonly VariablePlan[];
  readonly preStop: Handler | undefined;
  readonly stopSignal: StopSignal;
  readonly readiness: ProbePlan | undefined;
  readonly terminationGraceSecondsOfLiveness: number | undefined;
};

export type PodPlan = {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly graceSeconds: number;
  readonly restartsContainers: boolean;
  readonly containers: readonly ContainerPlan[];
};

export function planPod(pod: object): PodPlan {
  return {
    name: textAt(pod, "metadata", "name") ?? "pod",
    namespace: textAt(pod, "metadata", "namespace") ?? "default",
    uid: textAt(pod, "metadata", "uid") ?? "",
    graceSeconds: podGraceSeconds(numberAt(pod, "spec", "terminationGracePeriodSeconds")),
    restartsContainers: (textAt(pod, "spec", "restartPolicy") ?? "Always") === "Always",
    containers: [
      ...listAt(pod, "spec", "initContainers").map((container) =>
        planContainer(container, textAt(container, "restartPolicy") === "Always" ? "sidecar" : "init"),
      ),
      ...listAt(pod, "spec", "containers").map((container) => planContainer(container, "regular")),
    ],
  };
}

function planContainer(container: unknown, role: ContainerPlan["role"]): ContainerPlan {
  return {
    name: textAt(container, "name") ?? "",
    role,
    command: textsAt(container, "command"),
    args: textsAt(container, "args"),
    directory: textAt(container, "workingDir"),
    variables: listAt(container, "env").map((variable) => ({
      name: textAt(variable, "name") ?? "",
      value: textAt(variable, "value") ?? "",
      fieldPath: textAt(variable, "valueFrom", "fieldRef", "fieldPath") ?? "",
    })),
    stopSignal: stopSignalOf(textAt(container, "lifecycle", "stopSignal") ?? "") ?? "SIGTERM",
    preStop: planHandler(container, objectAt(container, "lifecycle", "preStop")),
    readiness: planProbe(container, objectAt(container, "readinessProbe")),
    terminationGraceSecondsOfLiveness: numberAt(container, "livenessProbe", "terminationGracePeriodSeconds"),
  };
}

function planProbe(container: unknown, probe: object): ProbePlan | undefined {
  const handler = planHandler(container, probe);
  if (handler === undefined) return undefined;
  return {
    handler,
    periodMs: Math.max(1, numberAt(probe, "periodSeconds") ?? 10) * 1_000,
    initialDelayMs: (numberAt(probe, "initialDelaySeconds") ?? 0) * 1_000,
    timeoutMs: Math.max(1, numberAt(probe, "timeoutSeconds") ?? 1) * 1_000,
  };
}

function planHandler(container: unknown, owner: object): Handler | undefined {
  if ("exec" in owner) return { kind: "exec", command: textsAt(owner, "exec", "command") };
  if ("sleep" in owner) return { kind: "sleep", seconds: numberAt(owner, "sleep", "seconds") ?? 0 };
  if ("tcpSocket" in owner) return { kind: "tcpSocket", port: portOf(container, objectAt(owner, "tcpSocket")) };
  if (!("httpGet" in owner)) return undefined;
  const httpGet = objectAt(owner, "httpGet");
  return {
    kind: "httpGet",
    host: textAt(httpGet, "host"),
    port: portOf(container, httpGet),
    path: textAt(httpGet, "path") ?? "/",
    secure: textAt(httpGet, "scheme") === "HTTPS",
    headers: Object.fromEntries(
      listAt(httpGet, "httpHeaders").map((header) => [textAt(header, "name") ?? "", textAt(header, "value") ?? ""]),
    ),
  };
}

/** @returns 0 unless the port is a number or the name of a container port */
function portOf(container: unknown, owner: object): number {
  const port = numberAt(owner, "port");
  if (port !== undefined) return port;
  const name = textAt(owner, "port");
  const namedPort = listAt(container, "ports").find((candidate) => textAt(candidate, "name") === name);
  return numberAt(namedPort, "containerPort") ?? 0;
}
