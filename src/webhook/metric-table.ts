/** Every metric of the webhook: type, name, help and labels. Names and labels are never renamed. Pure. */

/** A row; what is generated from the table reads nothing else. */
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
    help: "Requests to /mutate and /settings that were not refused unread; each is counted once, under the one way it ended.",
    labelNames: ["outcome", "reason", "mode", "dry_run"],
  },
  duration: {
    type: "histogram",
    name: "lastcall_admission_duration_seconds",
    help: "From the complete body to the finished answer, in seconds.",
    labelNames: [],
  },
  refused: {
    type: "counter",
    name: "lastcall_requests_refused_total",
    help: "Requests and connections that were turned away before a review was read, by reason.",
    labelNames: ["reason"],
  },
  problems: {
    type: "counter",
    name: "lastcall_problems_total",
    help: "Mistakes found in labels and annotations of Pods, workloads and namespaces, by code.",
    labelNames: ["code"],
  },
  cacheAge: {
    type: "gauge",
    name: "lastcall_cache_age_seconds",
    help: "Since the API server last said anything about it.",
    labelNames: ["cache"],
  },
  cacheStale: {
    type: "gauge",
    name: "lastcall_cache_stale",
    help: "1 when it is too old to be believed.",
    labelNames: ["cache"],
  },
  cacheEntries: {
    type: "gauge",
    name: "lastcall_cache_entries",
    help: "Objects of which something is kept.",
    labelNames: ["cache"],
  },
  cacheLists: { type: "counter", name: "lastcall_cache_lists_total", help: "Whole lists read.", labelNames: ["cache"] },
  cacheFailures: {
    type: "counter",
    name: "lastcall_cache_failures_total",
    help: "Lists and watches that failed.",
    labelNames: ["cache"],
  },
  events: {
    type: "counter",
    name: "lastcall_events_total",
    help: "Notes to owners of Pods, by what became of them; all but sent and repeated are lost.",
    labelNames: ["result"],
  },
  cabundlePatches: {
    type: "counter",
    name: "lastcall_cabundle_patches_total",
    help: "Writes of the caBundle by this replica; conflict: another writer came first.",
    labelNames: ["result"],
  },
  certificateNotAfter: {
    type: "gauge",
    name: "lastcall_certificate_not_after_seconds",
    help: "When a certificate expires, in seconds since 1970.",
    labelNames: ["kind"],
  },
  cabundleInSync: {
    type: "gauge",
    name: "lastcall_cabundle_in_sync",
    help: "1 while every webhook was last seen to trust the certificate of this replica.",
    labelNames: [],
  },
  enforcing: {
    type: "gauge",
    name: "lastcall_enforcing",
    help: "1 while API servers refuse Pods when no webhook answers; 0 until injection is proven. Only with failurePolicy Fail.",
    labelNames: [],
  },
  enforcementBlocked: {
    type: "gauge",
    name: "lastcall_enforcement_blocked",
    help: "1 for the reason why enforcement is not active yet: quota when a ResourceQuota in selfTest.namespace refuses the dry-run Pod, else other; the log names it. Only with failurePolicy Fail.",
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
