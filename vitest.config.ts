import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/longest-first.ts";
import { foreignFolder } from "./test/manifests/foreign-folder.ts";
import { EVENTUALLY_LIMIT_MS } from "./test/time/eventually.ts";

const ALL = ["{test,e2e,bench}/**/*.test.ts"];

/**
 * They compare every time of real programs on the test's clock. The kernel answers for all sockets of the host at once, so they
 * run when the others, some with thousands of connections, are done.
 */
const STORIES = [
  "test/clock/**/*.test.ts",
  "test/manager/{blind-drains,differential-*,envoy-driver,pod-end,relay-drains}.test.ts",
];
/** The same rules for more drivers, relays and callers; a landing leaves them to the whole suite. */
const MORE_STORIES = ["test/manager/{envoy-unix-socket,linkerd-driver,caller-authorization,relay-broken}.test.ts"];

/** What both builds do is compared, or the binary looked at: without the native build there is nothing to try. */
const WITH_BOTH_BUILDS = [
  "test/manager/differential-*.test.ts",
  "test/native/{position-independent,size,test-clock}.test.ts",
];
const isOnNodeOnly = process.env["LASTCALL_BUILDS"] === "node";
const FOREIGN = foreignFolder() === undefined ? ["test/manifests/foreign.test.ts"] : [];
const NOT_TRIED = ["**/node_modules/**", ...FOREIGN, ...(isOnNodeOnly ? WITH_BOTH_BUILDS : [])];

/** They start programs, own ports and namespaces, and take from seconds to a minute each. */
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

/** In processes of their own: they look at the process they run in, or start a program for a moment. */
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
  // They end only what hangs: on a host with fourteen times the load, a case on the tests' clock took more than a minute.
  testTimeout: 3 * EVENTUALLY_LIMIT_MS,
  hookTimeout: 3 * EVENTUALLY_LIMIT_MS,
  // Programs under test are started hundreds of times; what Node compiled once is not compiled again, and the largest
  // package is one file: half of the CPU.
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
    // Most cases wait for real time: more workers than cores keep the cores busy. With eight, programs that have two seconds
    // to answer were at times not given a turn in them.
    maxWorkers: 6,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: { ...forAll, name: "programs", include: PROGRAMS, exclude: [...NOT_TRIED, ...STORIES, ...MORE_STORIES] },
      },
      { test: { ...onClock, name: "stories", include: STORIES, exclude: NOT_TRIED } },
      { test: { ...onClock, name: "more-stories", include: MORE_STORIES } },
      { test: { ...forAll, name: "apart", include: APART } },
      // The rest keeps no state in modules: its files share processes, which costs half of what a process for each does.
      {
        test: {
          ...forAll,
          name: "rooms",
          include: ALL,
          exclude: [...NOT_TRIED, ...APART, ...PROGRAMS, ...STORIES, ...MORE_STORIES],
          isolate: false,
        },
      },
    ],
  },
});
