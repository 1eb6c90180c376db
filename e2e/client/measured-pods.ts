/** Measures the terminations of a proxy's Pods: their durations, and the time after the last request. */
import type { V1Pod } from "@kubernetes/client-node";
import { waitUntil } from "../host/wait.ts";
import { observeExits } from "./container-exits.ts";
import { nameOf } from "./injected-pods.ts";
import type { Kubectl } from "./kubectl.ts";
import type { Suite } from "./suite.ts";

export type PodTermination = {
  readonly pod: string;
  /** From the Pod's deletion to the proxy's exit. */
  readonly seconds: number;
  /** From the earliest possible end of the drain to the proxy's exit; at least 0. */
  readonly overWaitSeconds: number;
};

/**
 * lastcall's default settings: a drain can end after the quiet period, which begins at the end of the drain delay or of the last
 * request. The over-wait of other managers is measured from the same time.
 */
const DRAIN_DELAY_MS = 5_000;
const QUIET_PERIOD_MS = 2_000;

export type MeasuredProxy = {
  readonly container: string;
  /** Returns the time of a line of the access log, which is written at the end of a request or connection; 0 for other lines. */
  readonly endOfRequest: (line: string) => number;
};

/** @param kubectl of the Pods' namespace. @returns a function that waits until the proxy has exited in all observed Pods */
export function observeTerminations(
  suite: Suite,
  kubectl: Kubectl,
  proxy: MeasuredProxy,
  pods: readonly V1Pod[],
): () => Promise<readonly PodTermination[]> {
  const exits = observeExits(suite);
  const observations = pods.map((pod) => observe(kubectl, proxy, pod));
  return async () => {
    try {
      return await Promise.all(
        observations.map(async ({ pod, container, measure }) => {
          const condition = `the proxy of ${pod} has exited`;
          return measure(await waitUntil({ condition, withinMs: 420_000 }, () => exits.exitMsOf(container)));
        }),
      );
    } finally {
      exits.stop();
    }
  };
}

function observe(kubectl: Kubectl, { container: proxyContainer, endOfRequest }: MeasuredProxy, pod: V1Pod) {
  const name = nameOf(pod);
  const status = pod.status?.containerStatuses?.find(({ name: other }) => other === proxyContainer);
  let deletedMs = 0;
  let lastRequestMs = 0;
  const columns = "--output=custom-columns=DELETED:.metadata.deletionTimestamp";
  const watch = kubectl.follow(["get", "pod", name, "--watch", "--no-headers", columns], (line) => {
    if (deletedMs === 0 && !line.includes("<none>")) deletedMs = Date.now();
  });
  // Envoy writes the lines of its access log together, so they arrive late, but each has its time.
  const log = kubectl.follow(["logs", "--follow", `--container=${proxyContainer}`, "--tail=0", name], (line) => {
    lastRequestMs = Math.max(lastRequestMs, endOfRequest(line));
  });
  const logEnd = new Promise<void>((resolve) => log.once("close", () => resolve()));
  return {
    pod: name,
    container: status?.containerID?.replace(/^.*:\/\//, "") ?? "",
    measure: async (exitedMs: number): Promise<PodTermination> => {
      await logEnd;
      watch.kill();
      const earliestEndMs = Math.max(deletedMs + DRAIN_DELAY_MS, lastRequestMs) + QUIET_PERIOD_MS;
      return {
        pod: name,
        seconds: (exitedMs - deletedMs) / 1_000,
        overWaitSeconds: Math.max(0, exitedMs - earliestEndMs) / 1_000,
      };
    },
  };
}

/** Envoy's default format: start, request, status, flags, bytes received and sent, duration in ms. */
const TEXT_LINE = /^\[([^\]]+)\] ".*?" [0-9]+ \S+ [0-9]+ [0-9]+ ([0-9]+)/;

function endOfEnvoysRequest(line: string): number {
  const [, startText = "", durationText = "0"] = TEXT_LINE.exec(line) ?? [];
  if (startText !== "") return Date.parse(startText) + Number(durationText);
  if (!line.startsWith("{")) return 0;
  const { start_time: start, duration } = JSON.parse(line) as { start_time?: string; duration?: number };
  return start === undefined ? 0 : Date.parse(start) + (duration ?? 0);
}

export const ENVOY: MeasuredProxy = { container: "envoy", endOfRequest: endOfEnvoysRequest };

type StatsSummary = {
  readonly pods: readonly {
    readonly podRef: { readonly name: string };
    readonly containers: readonly { readonly name: string; readonly memory?: { readonly rssBytes?: number } }[];
  }[];
};

/** Returns the largest resident memory of a container of the Pods, by the kubelets; undefined without that container. */
export async function readResidentBytes(
  kubectl: Kubectl,
  nodes: readonly string[],
  pods: readonly V1Pod[],
  container: string,
): Promise<number | undefined> {
  const names = new Set(pods.map(nameOf));
  const sizes: number[] = [];
  for (const node of nodes) {
    const summary: StatsSummary = JSON.parse(
      await kubectl.run(["get", "--raw", `/api/v1/nodes/${node}/proxy/stats/summary`]),
    );
    const containerStats = summary.pods
      .filter(({ podRef }) => names.has(podRef.name))
      .flatMap(({ containers }) => containers);
    sizes.push(...containerStats.flatMap(({ name, memory }) => (name === container ? (memory?.rssBytes ?? []) : [])));
  }
  return sizes.length === 0 ? undefined : Math.max(...sizes);
}
