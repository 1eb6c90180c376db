/**
 * Fakes the injectors of Istio and Linkerd: adds their containers to a Pod, and renders excluded ports, probes and hooks as the
 * real injectors do.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

type JsonObject = { [key: string]: unknown };
type Handler = { httpGet?: { path?: string; port: number } };
type Container = { [key: string]: unknown; name: string; args?: string[]; env?: JsonObject[] };
export type MeshPod = {
  metadata: { annotations?: { [key: string]: string }; [key: string]: unknown };
  spec: { containers: Container[]; initContainers?: Container[]; [key: string]: unknown };
};
export type Injector = (pod: object) => MeshPod;

function containerOf(golden: string, name: string): Container {
  const text = readFileSync(join(import.meta.dirname, "../golden", golden, "input.yaml"), "utf8");
  const { spec } = parse(text) as MeshPod;
  const found = [...(spec.initContainers ?? []), ...spec.containers].find((container) => container.name === name);
  if (found === undefined) throw new Error(`${golden} has no container ${name}`);
  return found;
}

function clonePod(pod: object): MeshPod {
  return JSON.parse(JSON.stringify(pod)) as MeshPod;
}

/** Replaces the value of one argument. */
function replaceArgument(container: Container, flag: string, change: (value: string) => string): Container {
  const args = container.args ?? [];
  const at = args.indexOf(flag) + 1;
  return { ...container, args: args.with(at, change(args[at] ?? "")) };
}

function addMeshContainers(pod: MeshPod, init: Container, proxy: Container): MeshPod {
  const isNative = proxy["restartPolicy"] === "Always";
  const otherInitContainers = pod.spec.initContainers ?? [];
  pod.spec.initContainers = isNative ? [init, proxy, ...otherInitContainers] : [init, ...otherInitContainers];
  if (!isNative) pod.spec.containers.unshift(proxy);
  return pod;
}

/** Redirects probes and hooks to Istio's agent, and returns the original targets as JSON for the agent. */
function rewriteHandlers(pod: MeshPod): string {
  const probers: { [path: string]: JsonObject } = {};
  const move = (path: string, handler: Handler | undefined) => {
    if (handler?.httpGet === undefined) return;
    probers[path] = { httpGet: handler.httpGet };
    handler.httpGet = { path, port: 15_020 };
  };
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    const { name } = container;
    const lifecycle = container["lifecycle"] as { preStop?: Handler; postStart?: Handler } | undefined;
    move(`/app-health/${name}/livez`, container["livenessProbe"] as Handler | undefined);
    move(`/app-health/${name}/readyz`, container["readinessProbe"] as Handler | undefined);
    move(`/app-lifecycle/${name}/poststartz`, lifecycle?.postStart);
    move(`/app-lifecycle/${name}/prestopz`, lifecycle?.preStop);
  }
  return JSON.stringify(probers);
}

function createIstioInjector(golden: string): Injector {
  return (received) => {
    const pod = clonePod(received);
    const excluded = pod.metadata.annotations?.["traffic.sidecar.istio.io/excludeInboundPorts"];
    const render = (ports: string) => (excluded === undefined ? ports : `${ports},${excluded}`);
    const init = replaceArgument(containerOf(golden, "istio-init"), "-d", render);
    const env = [{ name: "ISTIO_KUBE_APP_PROBERS", value: rewriteHandlers(pod) }];
    return addMeshContainers(pod, init, { ...containerOf(golden, "istio-proxy"), env });
  };
}

function createLinkerdInjector(golden: string): Injector {
  return (received) => {
    const pod = clonePod(received);
    const ports = pod.metadata.annotations?.["config.linkerd.io/skip-inbound-ports"] ?? "4567,4568";
    const render = () => `4190,4191,${ports}`;
    const init = replaceArgument(containerOf("linkerd-native", "linkerd-init"), "--inbound-ports-to-ignore", render);
    return addMeshContainers(pod, init, containerOf(golden, "linkerd-proxy"));
  };
}

export const INJECTORS: Readonly<Record<string, Injector>> = {
  "Istio with a native proxy": createIstioInjector("istio-native"),
  "Istio with a regular proxy": createIstioInjector("istio-regular"),
  "Linkerd with a native proxy": createLinkerdInjector("linkerd-native"),
  "Linkerd with a regular proxy": createLinkerdInjector("linkerd-regular"),
};
