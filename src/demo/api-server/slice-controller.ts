/** Keeps a Service's EndpointSlice as its controller does: a little behind what happens to the Pods. */
import type { Clock } from "../clock.ts";
import { applyChange, type EndpointChange } from "../network/service-endpoints.ts";
import type { PodIdentity } from "../pods/pod-runner.ts";
import type { PodEvent } from "../pods/running-pod.ts";
import { isOffered, type SlicedService, sliceOf } from "./endpoint-slice.ts";

export type SlicePorts = {
  readonly clock: Clock;
  readonly service: SlicedService;
  /** From a change of a Pod to the change of the slice. */
  readonly lagMs: number;
  readonly write: (slice: Readonly<Record<string, unknown>>) => void;
};

type SliceController = {
  readonly tell: (change: EndpointChange, pod: PodIdentity) => void;
  /** Writes everything told so far now, without the lag. */
  readonly catchUp: () => void;
  /** When the slice stopped offering the Pod, on the clock; `undefined` when it offers it or never did. */
  readonly withdrawnMs: (pod: Pick<PodIdentity, "uid">) => number | undefined;
  readonly close: () => void;
};

type Told = { readonly change: EndpointChange; readonly pod: PodIdentity };

export function createSliceController(ports: SlicePorts): SliceController {
  const { clock, service } = ports;
  const closing = new AbortController();
  const pods = new Map<string, PodIdentity>();
  const offered = new Set<string>();
  const withdrawn = new Map<string, number>();
  let endpoints: ReturnType<typeof applyChange> = [];
  let waiting: readonly Told[] = [];

  const write = (): void => {
    const sliced = endpoints.flatMap((endpoint) => {
      const pod = pods.get(endpoint.address);
      return pod === undefined ? [] : [{ endpoint, pod }];
    });
    noteWithdrawals(new Set(sliced.filter(({ endpoint }) => isOffered(endpoint)).map(({ pod }) => pod.uid)));
    ports.write(sliceOf(service, sliced));
  };
  const noteWithdrawals = (now: ReadonlySet<string>): void => {
    for (const uid of offered) if (!now.has(uid)) withdrawn.set(uid, clock.nowMs());
    for (const uid of now) withdrawn.delete(uid);
    offered.clear();
    for (const uid of now) offered.add(uid);
  };
  const apply = ({ change, pod }: Told): void => {
    pods.set(change.address, pod);
    endpoints = applyChange(endpoints, change);
  };

  return {
    tell: (change, pod) => {
      const told = { change, pod };
      waiting = [...waiting, told];
      void clock.wait(ports.lagMs, closing.signal).then(() => {
        // Written by `catchUp` meanwhile, or no reader is left.
        if (closing.signal.aborted || !waiting.includes(told)) return;
        waiting = waiting.filter((other) => other !== told);
        apply(told);
        write();
      });
    },
    catchUp: () => {
      const now = waiting;
      waiting = [];
      for (const told of now) apply(told);
      write();
    },
    withdrawnMs: ({ uid }) => withdrawn.get(uid),
    close: () => closing.abort(),
  };
}

/** @returns the consumer of every Pod's events. */
export function createEndpointFeed(
  tell: (change: EndpointChange, pod: PodIdentity) => void,
): (pod: PodIdentity, event: PodEvent) => void {
  const serving = new Set<string>();
  const terminating = new Set<string>();
  return (pod, event) => {
    const { address } = pod;
    if (event.what === "ready") serving.add(address);
    else if (event.what === "unready") serving.delete(address);
    else if (event.what === "deleted") terminating.add(address);
    else if (event.what !== "gone") return;
    if (event.what === "gone") tell({ address, gone: true }, pod);
    else tell({ address, serving: serving.has(address), terminating: terminating.has(address) }, pod);
  };
}
