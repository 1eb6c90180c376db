/** Who may import whom, as data. A room may always import itself; type imports are free, they leave nothing behind. */

export type Rule = {
  readonly rooms: readonly string[];
  /** Packages the room may load at run time. */
  readonly npm: readonly string[];
  /** Whether it may reach outside through `node:` modules. The pure rooms may not. */
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
    rooms: [...CORE, "settings", "api-server", "authority", "startup-memory.ts"],
    npm: ["fastify", "pino", "prom-client", "yaml", "@kubernetes/client-node"],
    io: true,
  },
  relay: {
    rooms: ["contract", "kubernetes", "api-server", "authority", "drain-history", "fault.ts", "startup-memory.ts"],
    npm: ["fastify", "prom-client"],
    io: true,
  },
  cli: { rooms: [...CORE, "api-server", "drain-history", "lint"], npm: ["yaml", "commander", "diff"], io: true },
  manager: { rooms: ["contract"], npm: [], io: true },
  demo: { rooms: ["contract", "settings", "fault.ts"], npm: ["fast-json-patch", "yaml", "commander"], io: true },
  // Reads the tables of every program; no program loads it.
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
  // Of each thread by itself.
  "startup-memory.ts": { rooms: [], npm: [], io: true },
  "fault.ts": { rooms: [], npm: [], io: false },
};

/** Single files that may load more than their room: one place per package, each with its reason. */
export const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  // The package does not export it, and what it exports instead is 4 MB larger (decision 43).
  "api-server/web-socket.ts": ["@kubernetes/client-node/dist/web-socket-handler.js"],
  // The manager's source compiles ahead of time without packages; only its Node build binds libc through an FFI.
  "manager/node-flag-page.ts": ["koffi"],
  "manager/node-libc.ts": ["koffi"],
  "manager/node-port-guard.ts": ["koffi"],
};

/** Single files that may reach into one more room. */
export const COMPOSERS: Readonly<Record<string, readonly string[]>> = {
  // One process serves admissions and the relay, on two threads; the two rooms do not know each other.
  "webhook/optional-parts.ts": ["relay"],
};

/** Within injection only the diff knows the patch library. */
export const ONLY_IMPORTERS: Readonly<Record<string, string>> = {
  "fast-json-patch": "injection/patch.ts",
};

/** Within injection: what each folder may import. Files directly in the room, such as `outcome.ts`, are named. */
export const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  "opt-in": [],
  manager: [],
  mesh: ["manager"],
  hooks: ["mesh"],
  resources: [],
  record: ["hooks", "manager", "mesh"],
  plan: ["hooks", "manager", "mesh", "record", "resources", "outcome.ts", "request.ts"],
};

/** Imports that close a circle and stay, each with its reason. A new one is refused. */
export const CYCLES: Readonly<Record<string, string>> = {
  "demo/story/withdrawal.ts -> demo/story/timeline.ts": "the timeline shows withdrawals, which carry its time",
  "demo/story -> demo/pod-end.ts": "the story tells how a Pod ended",
  "demo/story -> demo/variant.ts": "the story names the variant it tells of",
  "cli/drains -> cli/ports.ts": "takes its ports from the program's, which include those of drains",
  "cli/drains -> cli/open-manifests.ts": "reads manifests as the other commands do",
  "manager/sockets -> manager/traffic": "sockets are written as observations of traffic",
};
