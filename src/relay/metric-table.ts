/** Every metric of the relay: type, name, help and labels. Names and labels are never renamed. Pure. */

export const METRICS = {
  identityFailures: {
    type: "counter",
    name: "lastcall_relay_identity_failures_total",
    help: "Looks at the relay's Secret that failed: it could not be read or written.",
    labelNames: [],
  },
  identityReady: {
    type: "gauge",
    name: "lastcall_relay_identity_ready",
    help: "1 while this replica has a CA and a key, so that Pods can be given the relay.",
    labelNames: [],
  },
  watchedNamespaces: {
    type: "gauge",
    name: "lastcall_relay_watched_namespaces",
    help: "Namespaces whose EndpointSlices are being watched.",
    labelNames: [],
  },
  sliceEvents: {
    type: "counter",
    name: "lastcall_relay_slice_events_total",
    help: "Changes of EndpointSlices that were received.",
    labelNames: [],
  },
  watchFailures: {
    type: "counter",
    name: "lastcall_relay_watch_failures_total",
    help: "Lists and watches of EndpointSlices that failed.",
    labelNames: [],
  },
  drains: {
    type: "counter",
    name: "lastcall_drains_total",
    help: "Drains reported by managers, and drains found lost, by how they ended.",
    labelNames: ["outcome"],
  },
  incompleteDrains: {
    type: "counter",
    name: "lastcall_incomplete_drains_total",
    help: "Drains that ended as blind, forced or lost, by the namespace of their Pods; after 100 namespaces, others are counted as _other.",
    labelNames: ["outcome", "pod_namespace"],
  },
  drainPhase: {
    type: "histogram",
    name: "lastcall_drain_phase_seconds",
    help: "How long reported drains stayed in each phase, in seconds.",
    labelNames: ["phase"],
  },
  drainConnectionsLeft: {
    type: "histogram",
    name: "lastcall_drain_connections_left",
    help: "Connections that were still open when a reported drain ended.",
    labelNames: [],
  },
  drainReportsRefused: {
    type: "counter",
    name: "lastcall_drain_reports_refused_total",
    help: "Reports of drains that were not taken, by reason.",
    labelNames: ["reason"],
  },
  threadStarts: {
    type: "counter",
    name: "lastcall_relay_thread_starts_total",
    help: "How often the relay's thread was begun; each after the first follows one that ended by itself.",
    labelNames: [],
  },
  answering: {
    type: "gauge",
    name: "lastcall_relay_answering",
    help: "1 when the relay's own figures are on this page, 0 when its thread was gone or too busy to give them.",
    labelNames: [],
  },
  heapUsed: {
    type: "gauge",
    name: "lastcall_relay_heap_used_bytes",
    help: "Used part of the JavaScript heap of the relay's thread, in bytes.",
    labelNames: [],
  },
  streams: {
    type: "gauge",
    name: "lastcall_relay_streams",
    help: "Drains that are being told about their withdrawal now.",
    labelNames: [],
  },
  refused: {
    type: "counter",
    name: "lastcall_relay_refused_total",
    help: "Questions about a withdrawal that were refused, by why.",
    labelNames: ["reason"],
  },
} as const;
