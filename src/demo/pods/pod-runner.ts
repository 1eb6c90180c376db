/**
 * Runs Pods as local processes under the kubelet's rules, for the demo and for tests of whole processes.
 *
 * Modelled: init containers and native sidecars in order; preStop hooks (exec, httpGet, sleep) in parallel; ordered stop
 * signals; the grace period in whole seconds with its minimum of 2 s, SIGKILL; restarts of exited containers with
 * back-off; a restart by a liveness probe; Pods that run to completion; readiness probes until the Pod is gone.
 *
 * Not modelled: images (each container must set `command`; `/lastcall` is the local manager), volumes (the preload
 * library is the local build), resource limits, users and security contexts, postStart, startup probes, periodic liveness
 * probes, an image's STOPSIGNAL (set `lifecycle.stopSignal` instead), `envFrom`, references to Secrets and ConfigMaps,
 * evictions, and the kubelet's own restarts and delays. docs/real-kubelet.md lists the differences.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { PodAttachment, PodNetwork } from "../network/pod-network.ts";
import type { ContainerImages } from "./container-run.ts";
import { planPod } from "./pod-plan.ts";
import { createRunningPod, type PodEvent, type RunningPod, type RunningPodPorts } from "./running-pod.ts";

const projectPath = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

const NATIVE_MANAGER = projectPath("build/native/lastcall");
const NODE_MANAGER = projectPath("src/manager/node-main.ts");
const PRELOAD_LIBRARY = projectPath(`build/native/lastcall-preload-${process.arch}.so`);

export type ManagerImage = Omit<ContainerImages, "imageEnvironment"> & { readonly manager: "native" | "node" };

export function localManagerImage(): ManagerImage {
  const hasNativeManager = existsSync(NATIVE_MANAGER);
  return {
    manager: hasNativeManager ? "native" : "node",
    managerProgram: hasNativeManager ? [NATIVE_MANAGER] : [process.execPath, NODE_MANAGER],
    preloadLibrary: existsSync(PRELOAD_LIBRARY) ? PRELOAD_LIBRARY : "",
  };
}

export type PodRunnerPorts = RunningPodPorts & {
  readonly network: PodNetwork;
  readonly onEvent: (pod: PodIdentity, event: PodEvent) => void;
};

export type PodIdentity = { readonly name: string; readonly uid: string; readonly address: string };

export type PodRunner = {
  readonly start: (pod: object) => Promise<RunningPod>;
  readonly close: () => Promise<void>;
};

export function createPodRunner(ports: PodRunnerPorts): PodRunner {
  const pods = new Set<RunningPod>();
  // Addresses are released only in close(): a removed Pod without an address would drop packets instead of refusing connections.
  const attachments = new Set<PodAttachment>();
  return {
    start: async (manifest) => {
      const manifestPlan = planPod(manifest);
      const plan = { ...manifestPlan, uid: manifestPlan.uid || randomUUID() };
      const attachment = await ports.network.attach();
      attachments.add(attachment);
      const identity = { name: plan.name, uid: plan.uid, address: attachment.address };
      const pod = createRunningPod(plan, attachment, ports, (event) => ports.onEvent(identity, event));
      pods.add(pod);
      await pod.startContainers();
      return pod;
    },
    close: async () => {
      await Promise.all([...pods].map((pod) => pod.kill()));
      pods.clear();
      for (const attachment of attachments) attachment.release();
      attachments.clear();
    },
  };
}
