/** The rooms under mutation testing, with the tests that must kill their mutants. */

export type MutatedRoom = {
  readonly name: string;
  /** Globs of the source files of the room. */
  readonly source: readonly string[];
  /** Globs of the tests that call this source in the same process. */
  readonly tests: readonly string[];
};

export const ROOMS: readonly MutatedRoom[] = [
  { name: "policy", source: ["src/policy/*.ts"], tests: ["test/policy/*.test.ts", "test/cli/explanation.test.ts"] },
  {
    name: "injection",
    source: ["src/injection/**/*.ts"],
    tests: ["test/injection/!(linear-work*).test.ts", "test/golden/*.test.ts"],
  },
  {
    name: "drain",
    source: ["src/manager/drain/*.ts"],
    tests: [
      "test/manager/{criterion,drain-*,hook-rules,next-wake,external-callers,relay-history,sample-pace,envoy-drain,driver-absence,driver-faults}.test.ts",
      "test/manager/{traffic-drain,envoy-evidence}.test.ts",
    ],
  },
  {
    name: "traffic",
    source: ["src/manager/traffic/*.ts"],
    tests: [
      "test/manager/{traffic-*,connection-table,other-processes,observation-*,envoy-evidence,sample-pace}.test.ts",
    ],
  },
  { name: "lint", source: ["src/lint/**/*.ts"], tests: ["test/lint/*.test.ts"] },
  {
    name: "slices",
    source: ["src/relay/slices/*.ts", "src/kubernetes/endpoints/*.ts"],
    tests: ["test/relay/{slices,withdrawal}/*.test.ts", "test/kubernetes/endpoints/*.test.ts"],
  },
  {
    name: "certificates",
    source: ["src/authority/*.ts", "src/webhook/certificates/**/*.ts"],
    tests: [
      "test/authority/*.test.ts",
      "test/webhook/certificates*.test.ts",
      "test/webhook/certificates-authority/!(program).test.ts",
    ],
  },
];
