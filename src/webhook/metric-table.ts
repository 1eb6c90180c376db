/** Declares all metrics of the webhook, except the relay's. Names and labels stay stable. Pure. */

export type Metric = {
  readonly type: "counter" | "gauge" | "histogram";
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
};

export const METRICS = {
  admissions: {
    type: "counter",
    name: "lastcall_admissions_total",
    help: "Requests to /mutate and /settings whose body was read, by outcome.",
    labelNames: ["outcome", "reason", "mode", "dry_run"],
  },
  duration: {
    type: "histogram",
    name: "lastcall_admission_duration_seconds",
    help: "Seconds from the complete request body to the response.",
    labelNames: [],
  },
  refused: {
    type: "counter",
    name: "lastcall_requests_refused_total",
    help: "Requests and connections that were refused before a review was parsed, by reason.",
    labelNames: ["reason"],
  },
  problems: {
    type: "counter",
    name: "lastcall_problems_total",
    help: "Problems in labels and annotations of Pods, workloads and namespaces, by code.",
    labelNames: ["code"],
  },
  cacheAge: {
    type: "gauge",
    name: "lastcall_cache_age_seconds",
    help: "Seconds since the API server last updated the webhook's cache of objects, by cache.",
    labelNames: ["cache"],
  },
  cacheStale: {
    type: "gauge",
    name: "lastcall_cache_stale",
    help: "1 while the webhook's cache of objects is too old to be used, by cache.",
    labelNames: ["cache"],
  },
  cacheEntries: {
    type: "gauge",
    name: "lastcall_cache_entries",
    help: "Objects in the webhook's cache, by cache.",
    labelNames: ["cache"],
  },
  cacheLists: {
    type: "counter",
    name: "lastcall_cache_lists_total",
    help: "Complete lists of objects that the webhook read from the API server, by cache.",
    labelNames: ["cache"],
  },
  cacheFailures: {
    type: "counter",
    name: "lastcall_cache_failures_total",
    help: "Lists and watches of the webhook that failed at the API server, by cache.",
    labelNames: ["cache"],
  },
  events: {
    type: "counter",
    name: "lastcall_events_total",
    help: "Events of lastcall on Pods and their owners, by result; Events with a result other than sent or repeated are lost.",
    labelNames: ["result"],
  },
  cabundlePatches: {
    type: "counter",
    name: "lastcall_cabundle_patches_total",
    help: "Writes of the webhook configuration's caBundle by this replica, by result; conflict: another client wrote the configuration first.",
    labelNames: ["result"],
  },
  certificateNotAfter: {
    type: "gauge",
    name: "lastcall_certificate_not_after_seconds",
    help: "Expiry of the webhook's certificate (leaf) and of the CA that signs it (ca), in seconds since 1970.",
    labelNames: ["kind"],
  },
  cabundleInSync: {
    type: "gauge",
    name: "lastcall_cabundle_in_sync",
    help: "1 while the caBundle of every webhook contains the CA of this replica's certificate.",
    labelNames: [],
  },
  enforcing: {
    type: "gauge",
    name: "lastcall_enforcing",
    help: "1 if API servers refuse Pods while the webhook does not respond; 0 until a dry-run Pod was injected. Only with the chart value failurePolicy: Fail.",
    labelNames: [],
  },
  enforcementBlocked: {
    type: "gauge",
    name: "lastcall_enforcement_blocked",
    help: "1 for the reason why lastcall_enforcing is 0: quota if a ResourceQuota in the namespace of the chart value selfTest.namespace refuses the dry-run Pod, else other; the webhook's log has the details. Only with the chart value failurePolicy: Fail.",
    labelNames: ["reason"],
  },
  residentMemory: {
    type: "gauge",
    name: "process_resident_memory_bytes",
    help: "Resident memory, in bytes.",
    labelNames: [],
  },
  uptime: {
    type: "gauge",
    name: "process_uptime_seconds",
    help: "Time since the process started, in seconds.",
    labelNames: [],
  },
  heapUsed: {
    type: "gauge",
    name: "nodejs_heap_used_bytes",
    help: "Used part of the JavaScript heap, in bytes.",
    labelNames: [],
  },
  cpu: {
    type: "counter",
    name: "process_cpu_seconds_total",
    help: "User and system CPU time spent, in seconds.",
    labelNames: [],
  },
} as const satisfies Readonly<Record<string, Metric>>;
