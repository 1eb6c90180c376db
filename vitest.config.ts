import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/longest-first.ts";

const ALL = ["test/**/*.test.ts"];

/** They start programs, own ports and namespaces, or look at the process they run in. */
const PROGRAMS = [
  "test/**/{process,program,relay-in-webhook,webhook-in-cluster,browser,documented-limits}.test.ts",
  "test/{cluster,native}/**/*.test.ts",
  "test/api-server/connection.test.ts",
  "test/demo/{container-command,demo,pod-runner,servers}.test.ts",
  "test/manager/{differential-*,envoy-driver,envoy-unix-socket,hostile-callers,http-driver,kernel-without-ipv6}.test.ts",
  "test/manager/{neighbours,netlink-sources,observation-*,original-hooks,raw-http,relay-*}.test.ts",
  "test/manager/{manager-*,stalled-manager}.test.ts",
  "test/manager/fuzz/*.test.ts",
  "test/relay/thread/*.test.ts",
];

const forAll = {
  // Process-level cases own ports, namespaces and clocks: they get one file at a time per worker and honest limits.
  testTimeout: 60_000,
  hookTimeout: 60_000,
  // Programs under test are started hundreds of times; what Node compiled once is not compiled again, and the largest
  // package is one file: half of the CPU.
  env: {
    NODE_COMPILE_CACHE: join(import.meta.dirname, "build/compile-cache"),
    NODE_OPTIONS: `--import=${join(import.meta.dirname, "test/lean-client.ts")}`,
  },
  sequence: { hooks: "stack" as const },
};

// biome-ignore lint/style/noDefaultExport: the tool reads its settings from the default export
export default defineConfig({
  test: {
    globalSetup: ["test/lean-client-build.ts", "test/native-build.ts"],
    // Most cases wait for real time: more workers than cores keep the cores busy. With eight, programs that have two seconds
    // to answer were at times not given a turn in them.
    maxWorkers: 6,
    sequence: { sequencer: LongestFirst },
    projects: [
      { test: { ...forAll, name: "programs", include: PROGRAMS } },
      // The rest keeps no state in modules: its files share processes, which costs half of what a process for each does.
      {
        test: { ...forAll, name: "rooms", include: ALL, exclude: ["**/node_modules/**", ...PROGRAMS], isolate: false },
      },
    ],
  },
});
