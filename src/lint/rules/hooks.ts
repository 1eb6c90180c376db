/** Finds hooks that always fail: the kubelet records FailedPreStopHook and sends the stop signal at once. */
import { portNumberOf } from "../../injection/mesh/ports.ts";
import { parseImage } from "../../kubernetes/image.ts";
import { listAt, objectAt, textAt, valueAt } from "../../kubernetes/raw-json.ts";
import { type PlacedHook, preStopHooksIn } from "../containers.ts";
import type { Workload } from "../manifest-set.ts";
import type { Rule, Violation } from "../rule.ts";

export const HOOK_TCP_SOCKET: Rule = {
  id: "hook-tcp-socket",
  title: "A tcpSocket hook",
  why: "The API accepts tcpSocket as a lifecycle hook for backward compatibility only. The kubelet cannot run it: the hook fails and the stop signal is sent immediately.",
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
          message: `Container ${name} has a tcpSocket preStop hook, which always fails.`,
        })),
    ),
};

export const HOOK_PORT: Rule = {
  id: "hook-port",
  title: "An httpGet hook with an unreachable port",
  why: "A hook can only name ports of its own container. In a Pod with hostNetwork the kubelet has no Pod IP for the request, so an httpGet hook without a host fails.",
  remedy: "Set a port of the container by name or number; with hostNetwork also set host: 127.0.0.1.",
  level: "error",
  check: ({ workloads }) =>
    workloads.flatMap((workload) =>
      preStopHooksIn(workload).flatMap((hook) => unreachablePortViolations(workload, hook)),
    ),
};

function unreachablePortViolations(
  workload: Workload,
  { container, name, handler, hookPath }: PlacedHook,
): readonly Violation[] {
  const httpGet = objectAt(handler, "httpGet");
  if (httpGet === undefined) return [];
  const port = valueAt(httpGet, "port");
  if (portNumberOf(container, port) === undefined) {
    const message = `Container ${name} does not declare this port, so its preStop hook fails.`;
    return [{ at: workload, path: [...hookPath, "httpGet", "port"], value: port, message }];
  }
  const isOnHost = valueAt(objectAt(workload.pod, "spec"), "hostNetwork") === true;
  if (!isOnHost || (textAt(httpGet, "host") ?? "") !== "") return [];
  const message = `The Pod uses hostNetwork, so the preStop hook of container ${name} fails without a host.`;
  return [{ at: workload, path: [...hookPath, "httpGet", "host"], value: undefined, message }];
}

export const HOOK_WITHOUT_SHELL: Rule = {
  id: "hook-without-shell",
  title: "An exec hook whose program is missing from the image",
  why: "An exec hook runs a program from the container's image. Images such as distroless have neither a shell nor sleep: the hook fails and the stop signal is sent immediately.",
  remedy: "Use the sleep action (Kubernetes 1.30 and later), httpGet, or a program that the image contains.",
  level: "error",
  check: ({ workloads }) =>
    workloads.flatMap((workload) =>
      preStopHooksIn(workload).flatMap(({ container, name, handler, hookPath }): readonly Violation[] => {
        const image = textAt(container, "image") ?? "";
        const [program] = listAt(objectAt(handler, "exec"), "command");
        if (typeof program !== "string" || !SHELL_OR_SLEEP.test(program) || !hasNoShell(image)) return [];
        const message = `The image of container ${name} has no ${program}, so its preStop hook fails.`;
        return [{ at: workload, path: [...hookPath, "exec", "command"], value: program, message }];
      }),
    ),
};

const SHELL_OR_SLEEP = /^(?:\/(?:usr\/)?bin\/)?(?:sh|bash|ash|dash|sleep)$/;

/** Recognizes images without a shell by name. Debug variants have a shell. */
function hasNoShell(reference: string): boolean {
  const { repository, tag } = parseImage(reference);
  const isPause = /^(?:registry\.k8s\.io|k8s\.gcr\.io)\/pause$/.test(repository);
  return isPause || (/(?:^|[/-])distroless(?:[/-]|$)/.test(`${repository}-${tag}`) && !/debug|dev/.test(tag));
}
