import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/longest-first.ts";
import { foreignFolder } from "./test/manifests/foreign-folder.ts";
import { EVENTUALLY_LIMIT_MS } from "./test/time/eventually.ts";

const ALL = ["{test,e2e,bench}/**/*.test.ts"];

/**
 * Scenarios with real programs on the test's clock. The kernel lists all sockets of the host at once, so they run after the other
 * tests, some of which open thousands of connections.
 */
const SCENARIOS = [
  "test/clock/**/*.test.ts",
  "test/manager/{blind-drains,differential-*,envoy-driver,pod-end,relay-drains}.test.ts",
];
/** The same rules for more drivers, relays and callers; `.ci/run` skips them, `npm run test:processes` runs them. */
const MORE_SCENARIOS = ["test/manager/{envoy-unix-socket,linkerd-driver,caller-authorization,relay-broken}.test.ts"];

/** These compare both builds or test the binary, so they need the native build. */
const WITH_BOTH_BUILDS = [
  "test/manager/differential-*.test.ts",
  "test/native/{position-independent,size,test-clock}.test.ts",
];
const isOnNodeOnly = process.env["LASTCALL_BUILDS"] === "node";
const FOREIGN = foreignFolder() === undefined ? ["test/manifests/foreign.test.ts"] : [];
const EXCLUDED = ["**/node_modules/**", ...FOREIGN, ...(isOnNodeOnly ? WITH_BOTH_BUILDS : [])];

/** These start programs, use ports and namespaces of their own, and take from seconds to a minute each. */
const PROGRAMS = [
  "test/{relay,webhook}/**/{program,relay-in-webhook,webhook-in-cluster,browser}.test.ts",
  "test/{cli/drains,webhook}/process.test.ts",
  "test/webhook/{attacks,keep-alive}.test.ts",
  "test/native/**/*.test.ts",
  "test/release/{package,sbom}.test.ts",
  "test/preload/{manager,parts,servers,unchanged}.test.ts",
  "test/demo/{demo,pod-runner}.test.ts",
  "test/manager/{hostile-*,in-cgroup}.test.ts",
  "test/manager/{manager-*,relay-process,stalled-manager}.test.ts",
  "test/injection/linear-work-large.test.ts",
];

/** In processes of their own, because these inspect their own process or start a short program. */
const APART = [
  "test/injection/linear-work.test.ts",
  "test/{api-server/load-kube-config,certs/make,cli/process,generate/new-setting,demo/container-command,demo/servers,preload/build}.test.ts",
  "e2e/**/*.test.ts",
  "test/manager/{http-driver,kernel-without-ipv6,other-processes,netlink-sources,observation-*}.test.ts",
  "test/manager/{original-hooks,raw-http,relay-client,relay-history,relay-session,runner-visibility,unread-callers}.test.ts",
  "test/manager/fuzz/*.test.ts",
  "test/relay/{documented-limits,thread/*}.test.ts",
  "test/webhook/client-certificate.test.ts",
];

const forAll = {
  // Only for tests that hang: under a load of fourteen times the cores, a case on the test's clock took more than a minute.
  testTimeout: 3 * EVENTUALLY_LIMIT_MS,
  hookTimeout: 3 * EVENTUALLY_LIMIT_MS,
  // By default, values longer than 40 characters are truncated in titles.
  taskTitleValueFormatTruncate: 200,
  // Tests start programs hundreds of times. Without the compile cache, Node compiles the largest package at each start, because the
  // package is a single file. This compilation takes half of the tests' CPU time.
  env: {
    NODE_COMPILE_CACHE: join(import.meta.dirname, "build/compile-cache"),
    NODE_OPTIONS: `--import=${join(import.meta.dirname, "test/lean-client.ts")}`,
  },
  sequence: { hooks: "stack" as const },
  setupFiles: ["test/seeded.ts"],
};

const onClock = { ...forAll, sequence: { ...forAll.sequence, groupOrder: 1 } };

// biome-ignore lint/style/noDefaultExport: the tool reads its settings from the default export
export default defineConfig({
  test: {
    globalSetup: [
      "test/commit-seed.ts",
      "test/lean-client-build.ts",
      "test/native-build.ts",
      "test/manifests/foreign-folder.ts",
    ],
    // Most cases wait for real time, so more workers than cores keep the cores busy. With eight workers, programs with a limit of
    // two seconds sometimes did not run in time.
    maxWorkers: 6,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...forAll,
          name: "programs",
          include: PROGRAMS,
          exclude: [...EXCLUDED, ...SCENARIOS, ...MORE_SCENARIOS],
        },
      },
      { test: { ...onClock, name: "scenarios", include: SCENARIOS, exclude: EXCLUDED } },
      { test: { ...onClock, name: "more-scenarios", include: MORE_SCENARIOS } },
      { test: { ...forAll, name: "apart", include: APART } },
      // The other files keep no state in modules and share processes, which takes half the CPU time of a process per file.
      {
        test: {
          ...forAll,
          name: "rooms",
          include: ALL,
          exclude: [...EXCLUDED, ...APART, ...PROGRAMS, ...SCENARIOS, ...MORE_SCENARIOS],
          isolate: false,
        },
      },
    ],
  },
});
