import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/longest-first.ts";
import { EVENTUALLY_LIMIT_MS } from "./test/time/eventually.ts";

const ALL = ["test/**/*.test.ts"];

/**
 * They compare every time of real programs on the test's clock. The kernel answers for all sockets of the host at once, so they
 * run when the others, some with thousands of connections, are done.
 */
const STORIES = [
  "test/clock/**/*.test.ts",
  "test/manager/{differential-*,envoy-driver,manager-who-may-speak,relay-drains}.test.ts",
];

/** They start programs, own ports and namespaces, or look at the process they run in. */
const PROGRAMS = [
  "test/**/{process,program,relay-in-webhook,webhook-in-cluster,browser,documented-limits}.test.ts",
  "test/webhook/{client-certificate,strangers}.test.ts",
  "test/{cluster,native}/**/*.test.ts",
  "test/api-server/connection.test.ts",
  "test/demo/{container-command,demo,pod-runner,servers}.test.ts",
  "test/manager/{envoy-unix-socket,hostile-*,http-driver,kernel-without-ipv6}.test.ts",
  "test/manager/{linkerd-driver,neighbours,netlink-sources,observation-*,original-hooks,raw-http,relay-*}.test.ts",
  "test/manager/{in-cgroup,manager-*,stalled-manager,unread-callers}.test.ts",
  "test/manager/fuzz/*.test.ts",
  "test/relay/thread/*.test.ts",
];

const forAll = {
  // Process-level cases own ports, namespaces and clocks: they get one file at a time per worker and honest limits.
  testTimeout: EVENTUALLY_LIMIT_MS + 20_000,
  hookTimeout: EVENTUALLY_LIMIT_MS + 20_000,
  // Programs under test are started hundreds of times; what Node compiled once is not compiled again, and the largest
  // package is one file: half of the CPU.
  env: {
    NODE_COMPILE_CACHE: join(import.meta.dirname, "build/compile-cache"),
    NODE_OPTIONS: `--import=${join(import.meta.dirname, "test/lean-client.ts")}`,
  },
  sequence: { hooks: "stack" as const },
  setupFiles: ["test/seeded.ts"],
};

// biome-ignore lint/style/noDefaultExport: the tool reads its settings from the default export
export default defineConfig({
  test: {
    globalSetup: ["test/commit-seed.ts", "test/lean-client-build.ts", "test/native-build.ts"],
    // Most cases wait for real time: more workers than cores keep the cores busy. With eight, programs that have two seconds
    // to answer were at times not given a turn in them.
    maxWorkers: 6,
    sequence: { sequencer: LongestFirst },
    projects: [
      { test: { ...forAll, name: "programs", include: PROGRAMS, exclude: ["**/node_modules/**", ...STORIES] } },
      { test: { ...forAll, name: "stories", include: STORIES, sequence: { ...forAll.sequence, groupOrder: 1 } } },
      // The rest keeps no state in modules: its files share processes, which costs half of what a process for each does.
      {
        test: {
          ...forAll,
          name: "rooms",
          include: ALL,
          exclude: ["**/node_modules/**", ...PROGRAMS, ...STORIES],
          isolate: false,
        },
      },
    ],
  },
});
