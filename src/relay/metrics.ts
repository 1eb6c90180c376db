/** Defines the relay's metrics and creates them, except those that identity/ and the guard create. */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { PhaseDurations, ResetsReport } from "../contract/drain-report.ts";
import { RECORDED_OUTCOMES } from "../drain-history/drain-notice.ts";
import type { DrainRecord, RecordedOutcome } from "../drain-history/drain-record.ts";

/** Names and labels are never renamed: dashboards and alerts depend on them. */
export const METRICS = {
  identityFailures: {
    name: "lastcall_relay_identity_failures_total",
    help: "Reconciliations of the relay's Secret that failed because the Secret could not be read or written.",
  },
  identityReady: {
    name: "lastcall_relay_identity_ready",
    help: "1 while this replica has a CA and a signing key, so that newly injected Pods can use the relay.",
  },
  watchedNamespaces: {
    name: "lastcall_relay_watched_namespaces",
    help: "Namespaces whose EndpointSlices are being watched.",
  },
  sliceEvents: {
    name: "lastcall_relay_slice_events_total",
    help: "Changes of EndpointSlices that were received.",
  },
  watchFailures: {
    name: "lastcall_relay_watch_failures_total",
    help: "Lists and watches of EndpointSlices that failed.",
  },
  drains: {
    name: "lastcall_drains_total",
    help: "Drains that managers reported, and drains that the relay recorded as lost, by outcome.",
    labelNames: ["outcome"],
  },
  incompleteDrains: {
    name: "lastcall_incomplete_drains_total",
    help: "Drains with the outcome blind, forced or lost, by namespace of the Pod; namespaces after the first 100 are counted as _other.",
    labelNames: ["outcome", "pod_namespace"],
  },
  drainPhase: {
    name: "lastcall_drain_phase_seconds",
    help: "Duration of the phases of reported drains, in seconds.",
    labelNames: ["phase"],
  },
  drainConnectionsLeft: {
    name: "lastcall_drain_connections_left",
    help: "Connections that were still open when a reported drain ended.",
  },
  drainResets: {
    name: "lastcall_drain_resets_total",
    help: "Connections of draining Pods that were reset, refused or dropped, before (draining) and after (stopping) the end of the drain; an upper bound that includes probes.",
    labelNames: ["period"],
  },
  drainReportsRefused: {
    name: "lastcall_drain_reports_refused_total",
    help: "Reports of drains that were refused, by reason.",
    labelNames: ["reason"],
  },
  threadStarts: {
    name: "lastcall_relay_thread_starts_total",
    help: "Starts of the relay's worker thread; each after the first follows an unexpected exit.",
  },
  answering: {
    name: "lastcall_relay_answering",
    help: "1 if this response contains the relay's own metrics, 0 if the relay's thread did not return them in time.",
  },
  heapUsed: {
    name: "lastcall_relay_heap_used_bytes",
    help: "Used part of the JavaScript heap of the relay's thread, in bytes.",
  },
  streams: {
    name: "lastcall_relay_streams",
    help: "Open withdrawal streams; each drain has one while its manager waits for the withdrawal.",
  },
  refused: {
    name: "lastcall_relay_refused_total",
    help: "Withdrawal requests that were refused, by reason.",
    labelNames: ["reason"],
  },
} as const;

/** Must be called once per metric and registry; the other functions of this file once per registry. */
export function addGauge(
  metric: "heapUsed" | "streams" | "watchedNamespaces",
  registry: Registry,
  value: () => number,
): void {
  new Gauge({
    ...METRICS[metric],
    registers: [registry],
    collect() {
      this.set(value());
    },
  });
}

export function threadMetrics(registry: Registry) {
  const registers = [registry];
  const starts = new Counter({ ...METRICS.threadStarts, registers });
  const answering = new Gauge({ ...METRICS.answering, registers });
  return { countStart: () => starts.inc(), setAnswering: (isAnswering: boolean) => answering.set(isAnswering ? 1 : 0) };
}

export function sliceMetrics(registry: Registry, watchedNamespaces: () => number) {
  const registers = [registry];
  addGauge("watchedNamespaces", registry, watchedNamespaces);
  const events = new Counter({ ...METRICS.sliceEvents, registers });
  const failures = new Counter({ ...METRICS.watchFailures, registers });
  return { countEvent: () => events.inc(), countFailure: () => failures.inc() };
}

const PHASES: readonly (keyof PhaseDurations)[] = ["withdrawing", "deregistration", "draining", "holding"];

const PHASE_BUCKETS_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 900, 3_600];
const LEFT_BUCKETS = [0, 1, 2, 5, 10, 25, 50, 100, 250, 1_000, 10_000];

/** Alerts fire on a single drain with one of these outcomes, so their metric has the namespace as a label. */
const INCOMPLETE_OUTCOMES: readonly RecordedOutcome[] = ["blind", "forced", "lost"];
/** Each namespace adds at most three series, which stay until the replica exits. */
export const NAMESPACES_LIMIT = 100;
const OTHER_NAMESPACES = "_other";

type CountedResets = Pick<ResetsReport, "draining" | "stopping">;

export function drainMetrics(registry: Registry) {
  const registers = [registry];
  const drains = new Counter({ ...METRICS.drains, registers });
  const incompleteDrains = new Counter({ ...METRICS.incompleteDrains, registers });
  const namespaces = new Set<string>();
  const phaseDurations = new Histogram({ ...METRICS.drainPhase, buckets: PHASE_BUCKETS_SECONDS, registers });
  const connectionsLeft = new Histogram({ ...METRICS.drainConnectionsLeft, buckets: LEFT_BUCKETS, registers });
  for (const outcome of RECORDED_OUTCOMES) drains.inc({ outcome }, 0);
  for (const phase of PHASES) phaseDurations.zero({ phase });
  const namespaceLabelOf = (namespace: string): string => {
    if (namespaces.size < NAMESPACES_LIMIT) namespaces.add(namespace);
    return namespaces.has(namespace) ? namespace : OTHER_NAMESPACES;
  };
  const resets = new Counter({ ...METRICS.drainResets, registers });
  const countResets = ({ draining, stopping }: CountedResets): void => {
    resets.inc({ period: "draining" }, draining);
    resets.inc({ period: "stopping" }, stopping);
  };
  countResets({ draining: 0, stopping: 0 });
  const countDrain = ({ namespace, report }: DrainRecord): void => {
    const { outcome } = report;
    drains.inc({ outcome });
    if (INCOMPLETE_OUTCOMES.includes(outcome))
      incompleteDrains.inc({ outcome, pod_namespace: namespaceLabelOf(namespace) });
    // The durations of these outcomes are zero or unknown and would shorten the averages.
    if (outcome === "restarted" || outcome === "lost") return;
    for (const phase of PHASES) phaseDurations.observe({ phase }, report.milliseconds[phase] / 1_000);
    connectionsLeft.observe(report.leftTotal);
  };
  return { countDrain, countResets };
}
