/**
 * Defines the allowed imports between rooms, the folders and files directly in src. A room may import its own files, and types
 * of any room, because type imports are erased.
 */

export type Rule = {
  readonly rooms: readonly string[];
  /** Packages the room may load at run time. */
  readonly npm: readonly string[];
  /** Whether the files of the room may import `node:` modules. */
  readonly io: boolean;
};

const CORE = ["contract", "policy", "kubernetes", "injection", "fault.ts"];

export const ROOMS: Readonly<Record<string, Rule>> = {
  contract: { rooms: [], npm: [], io: false },
  policy: { rooms: ["contract"], npm: [], io: false },
  kubernetes: { rooms: ["contract"], npm: [], io: false },
  injection: { rooms: ["contract", "policy", "kubernetes"], npm: ["fast-json-patch"], io: false },
  lint: { rooms: ["contract", "policy", "kubernetes", "injection"], npm: [], io: false },
  "api-server": { rooms: ["kubernetes", "fault.ts"], npm: ["@kubernetes/client-node"], io: true },
  authority: { rooms: [], npm: ["selfsigned"], io: true },
  settings: { rooms: ["contract", "policy", "kubernetes"], npm: [], io: true },
  "drain-history": { rooms: ["contract"], npm: [], io: false },
  webhook: {
    rooms: [...CORE, "settings", "api-server", "authority", "open-port.ts", "startup-memory.ts"],
    npm: ["fastify", "pino", "prom-client", "yaml", "@kubernetes/client-node"],
    io: true,
  },
  relay: {
    rooms: [
      "contract",
      "kubernetes",
      "api-server",
      "authority",
      "drain-history",
      "fault.ts",
      "open-port.ts",
      "startup-memory.ts",
    ],
    npm: ["fastify", "prom-client"],
    io: true,
  },
  cli: { rooms: [...CORE, "api-server", "drain-history", "lint"], npm: ["yaml", "commander", "diff"], io: true },
  manager: { rooms: ["contract"], npm: [], io: true },
  demo: {
    rooms: ["contract", "settings", "drain-history", "fault.ts"],
    npm: ["fast-json-patch", "yaml", "commander"],
    io: true,
  },
  // Reads the tables of every program; programs do not load this room.
  generate: {
    rooms: [
      "contract",
      "policy",
      "kubernetes",
      "injection",
      "lint",
      "settings",
      "webhook",
      "relay",
      "cli",
      "demo",
      "fault.ts",
    ],
    npm: ["prom-client", "yaml"],
    io: true,
  },
  "lastcall.ts": { rooms: ["webhook", "relay", "demo", "cli"], npm: [], io: false },
  // The main thread and each worker thread of a program call the function of this file once.
  "startup-memory.ts": { rooms: [], npm: [], io: true },
  "fault.ts": { rooms: [], npm: [], io: false },
  "open-port.ts": { rooms: ["fault.ts"], npm: [], io: true },
};

/** Files that may import more packages than their room, each with its reason. */
export const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  // The package does not export this file; the export that contains it is 4 MB larger (decision 43).
  "api-server/web-socket.ts": ["@kubernetes/client-node/dist/web-socket-handler.js"],
  // The manager's source compiles ahead of time without packages; only its Node build binds libc through an FFI.
  "manager/node-flag-page.ts": ["koffi"],
  "manager/node-libc.ts": ["koffi"],
  "manager/node-port-guard.ts": ["koffi"],
};

/** Files that may import rooms which their own room may not import. */
export const COMPOSERS: Readonly<Record<string, readonly string[]>> = {
  // One process serves admissions and the relay on two threads; the two rooms do not import each other.
  "webhook/optional-parts.ts": ["relay"],
};

/** Packages that only one file of a room may import: the patch library, for the file that computes the patch. */
export const ONLY_IMPORTERS: Readonly<Record<string, string>> = {
  "fast-json-patch": "injection/patch.ts",
};

/**
 * The allowed imports of each folder within its room, types included: other folders, and files directly in the room. A folder
 * without an entry may import none of them. The imports have no cycle, so every file can be read after its imports.
 */
export const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  "cli/drains": [
    "cli/cluster-flags.ts",
    "cli/exit-statuses.ts",
    "cli/file-flags.ts",
    "cli/get-json.ts",
    "cli/manifest",
    "cli/open-manifests.ts",
    "cli/ports.ts",
    "cli/terminal-text.ts",
  ],
  "cli/verify": [
    "cli/cluster-flags.ts",
    "cli/drain-ports.ts",
    "cli/drains",
    "cli/exit-statuses.ts",
    "cli/file-flags.ts",
    "cli/get-json.ts",
    "cli/ports.ts",
    "cli/terminal-text.ts",
  ],
  "cli/lint": [
    "cli/cluster-config-file.ts",
    "cli/exit-statuses.ts",
    "cli/file-flags.ts",
    "cli/manifest",
    "cli/open-manifests.ts",
    "cli/ports.ts",
    "cli/request.ts",
    "cli/terminal-text.ts",
  ],
  "demo/api-server": ["demo/clock.ts", "demo/json.ts", "demo/network", "demo/pods"],
  "demo/load": ["demo/clock.ts", "demo/network"],
  "demo/network": ["demo/clock.ts"],
  "demo/pods": ["demo/clock.ts", "demo/json.ts", "demo/network"],
  "demo/report": ["demo/json.ts", "demo/load", "demo/network", "demo/pods"],
  "demo/rollout": ["demo/clock.ts", "demo/json.ts", "demo/pods"],
  "drain-history/page": [
    "drain-history/drain-record.ts",
    "drain-history/drain-sentence.ts",
    "drain-history/report-text.ts",
    "drain-history/safe-text.ts",
    "drain-history/time-text.ts",
    "drain-history/timeline-svg.ts",
  ],
  "injection/hooks": ["injection/mesh"],
  "injection/mesh": ["injection/manager"],
  "injection/plan": [
    "injection/hooks",
    "injection/manager",
    "injection/mesh",
    "injection/outcome.ts",
    "injection/record",
    "injection/request.ts",
    "injection/resources",
  ],
  "injection/record": ["injection/hooks", "injection/manager", "injection/mesh"],
  "kubernetes/endpoints": ["kubernetes/raw-json.ts"],
  "lint/rules": ["lint/containers.ts", "lint/manifest-set.ts", "lint/rule.ts", "lint/sleeps.ts"],
  "manager/calls": ["manager/http", "manager/json-reader.ts", "manager/ports.ts", "manager/sockets"],
  "manager/drain": ["manager/ports.ts", "manager/traffic"],
  "manager/drivers/envoy": [
    "manager/http",
    "manager/line-buffer.ts",
    "manager/ports.ts",
    "manager/sockets",
    "manager/traffic",
  ],
  "manager/drivers/http": ["manager/drivers", "manager/http", "manager/json-reader.ts", "manager/ports.ts"],
  "manager/drivers/linkerd": ["manager/drivers", "manager/http", "manager/line-buffer.ts", "manager/ports.ts"],
  "manager/http": ["manager/ports.ts", "manager/read-text.ts"],
  "manager/relay": [
    "manager/drain",
    "manager/http",
    "manager/json-reader.ts",
    "manager/line-buffer.ts",
    "manager/platform.ts",
    "manager/ports.ts",
    "manager/sockets",
  ],
  "manager/sockets": ["manager/ports.ts"],
  "manager/traffic": ["manager/http", "manager/ports.ts", "manager/sockets"],
  "relay/drains": ["relay/server"],
  "relay/identity": ["relay/metrics.ts", "relay/server"],
  "relay/lost": ["relay/collections.ts", "relay/slices"],
  "relay/page": ["relay/drains"],
  "relay/server": ["relay/collections.ts", "relay/metrics.ts"],
  "relay/slices": ["relay/collections.ts", "relay/metrics.ts"],
  "relay/thread": ["relay/identity", "relay/metrics.ts", "relay/page", "relay/relay.ts", "relay/slices"],
  "relay/withdrawal": ["relay/drains", "relay/lost", "relay/metrics.ts", "relay/server", "relay/slices"],
  "webhook/admission": ["webhook/admission-outcome.ts", "webhook/intake", "webhook/log.ts", "webhook/metrics.ts"],
  "webhook/certificates": ["webhook/log.ts", "webhook/metric-table.ts", "webhook/settings.ts"],
  "webhook/cluster": ["webhook/admission", "webhook/log.ts", "webhook/metric-table.ts"],
  "webhook/enforcement": [
    "webhook/certificates",
    "webhook/log.ts",
    "webhook/metric-table.ts",
    "webhook/self-test",
    "webhook/settings.ts",
  ],
  "webhook/intake": ["webhook/log.ts"],
  "webhook/self-test": ["webhook/settings.ts"],
};
