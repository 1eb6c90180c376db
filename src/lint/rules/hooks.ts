/** Hooks that cannot work. The kubelet reports FailedPreStopHook and sends the stop signal at once. */
import { portNumberOf } from "../../injection/mesh/ports.ts";
import { listAt, objectAt, textAt, valueAt } from "../../kubernetes/raw-json.ts";
import { type PlacedHook, preStopHooksIn } from "../containers.ts";
import { parseImage } from "../image.ts";
import type { Workload } from "../manifest-set.ts";
import type { Rule, Violation } from "../rule.ts";

export const HOOK_TCP_SOCKET: Rule = {
  id: "hook-tcp-socket",
  title: "A tcpSocket hook",
  why: "The API takes tcpSocket as a lifecycle hook for the sake of old manifests only. No kubelet can run it: the hook fails and the stop signal follows at once.",
  remedy: "Use httpGet, sleep (Kubernetes 1.30 and later) or exec.",
  level: "error",
  check: ({ workloads }) =>
    workloads.flatMap((workload) =>
      preStopHooksIn(workload)
        .filter(({ handler }) => objectAt(handler, "tcpSocket") !== undefined)
        .map(({ name, hookPath, handler }) => ({
          at: workload,
          path: [...hookPath, "tcpSocket"],
          value: handler["tcpSocket"],
          message: `The preStop hook of container ${name} always fails.`,
        })),
    ),
};

export const HOOK_PORT: Rule = {
  id: "hook-port",
  title: "An httpGet hook that reaches no port",
  why: "A hook's named port must be one that its own container declares. In a Pod on the host's network the kubelet knows no address of the Pod, and an httpGet hook without a host fails.",
  remedy: "Name a port of the container, or its number; on the host's network set host: 127.0.0.1.",
  level: "error",
  check: ({ workloads }) =>
    workloads.flatMap((workload) => preStopHooksIn(workload).flatMap((hook) => unreached(workload, hook))),
};

function unreached(workload: Workload, { container, name, handler, hookPath }: PlacedHook): readonly Violation[] {
  const httpGet = objectAt(handler, "httpGet");
  if (httpGet === undefined) return [];
  const port = valueAt(httpGet, "port");
  if (portNumberOf(container, port) === undefined) {
    const message = `Container ${name} declares no such port, so its preStop hook fails.`;
    return [{ at: workload, path: [...hookPath, "httpGet", "port"], value: port, message }];
  }
  const isOnHost = valueAt(objectAt(workload.pod, "spec"), "hostNetwork") === true;
  if (!isOnHost || (textAt(httpGet, "host") ?? "") !== "") return [];
  const message = `The Pod is on the host's network, where the preStop hook of container ${name} fails without a host.`;
  return [{ at: workload, path: [...hookPath, "httpGet", "host"], value: undefined, message }];
}

export const HOOK_WITHOUT_SHELL: Rule = {
  id: "hook-without-shell",
  title: "An exec hook in an image without programs",
  why: "An exec hook runs a program of the container's own image. Images such as distroless have neither a shell nor sleep: the hook fails and the stop signal follows at once.",
  remedy: "Use the sleep action (Kubernetes 1.30 and later), httpGet, or a program that the image has.",
  level: "error",
  check: ({ workloads }) =>
    workloads.flatMap((workload) =>
      preStopHooksIn(workload).flatMap(({ container, name, handler, hookPath }): readonly Violation[] => {
        const image = textAt(container, "image") ?? "";
        const [program] = listAt(objectAt(handler, "exec"), "command");
        if (typeof program !== "string" || !SHELL_OR_SLEEP.test(program) || !hasNoPrograms(image)) return [];
        const message = `The image of container ${name} has no ${program}, so its preStop hook fails.`;
        return [{ at: workload, path: [...hookPath, "exec", "command"], value: program, message }];
      }),
    ),
};

const SHELL_OR_SLEEP = /^(?:\/(?:usr\/)?bin\/)?(?:sh|bash|ash|dash|sleep)$/;

/** Images that say so by their names. Variants for debugging have a shell. */
function hasNoPrograms(reference: string): boolean {
  const { repository, tag } = parseImage(reference);
  const isPause = /^(?:registry\.k8s\.io|k8s\.gcr\.io)\/pause$/.test(repository);
  return isPause || (/(?:^|[/-])distroless(?:[/-]|$)/.test(`${repository}-${tag}`) && !/debug|dev/.test(tag));
}
