/** Lists the rows of the two tables in docs/guides/rabbitmq.md, with the expected ends. */
import { MAINTENANCE_COMMAND } from "./broker-start.ts";
import type { BrokerEnd, BrokerScenario, ConsumerEnd, ConsumerScenario } from "./queue-request.ts";

/** The guide's settings for a consumer with an `active-url`. */
export const CONSUMER_ANNOTATIONS = {
  "lastcall.dev/drain-url": "http://127.0.0.1:8081/drain",
  "lastcall.dev/active-url": "http://127.0.0.1:8081/active",
  "lastcall.dev/drain-delay": "0s",
  "lastcall.dev/drain-timeout": "2h",
};

const LONG_GRACE_SECONDS = 7_200;
const SHORT_GRACE_SECONDS = 2;
const NO_SETTINGS = { annotations: {}, statusOn: "" } as const;
const JOB_COUNT_SETTINGS = { annotations: CONSUMER_ANNOTATIONS, statusOn: "127.0.0.1", lastcall: true } as const;

export type ConsumerCase = ConsumerScenario & { readonly expected: Partial<ConsumerEnd> };
export type BrokerCase = BrokerScenario & { readonly expected: Partial<BrokerEnd> };

export const CONSUMER_CASES: readonly ConsumerCase[] = [
  {
    ...NO_SETTINGS,
    name: "ends at its stop signal",
    onSigterm: "ends",
    graceSeconds: LONG_GRACE_SECONDS,
    lastcall: false,
    expected: { redelivered: 4 },
  },
  {
    ...NO_SETTINGS,
    name: "ends at its stop signal; no annotation",
    onSigterm: "ends",
    graceSeconds: LONG_GRACE_SECONDS,
    lastcall: true,
    expected: { redelivered: 4, outcome: "not-needed" },
  },
  {
    ...JOB_COUNT_SETTINGS,
    name: "ends at its stop signal; counts its jobs",
    onSigterm: "ends",
    graceSeconds: 30,
    expected: { redelivered: 0, outcome: "drained", killed: false },
  },
  {
    ...NO_SETTINGS,
    name: "finishes its jobs, in a grace period of 2 h",
    onSigterm: "finishes",
    graceSeconds: LONG_GRACE_SECONDS,
    lastcall: false,
    expected: { redelivered: 0, killed: false },
  },
  {
    ...NO_SETTINGS,
    name: "finishes its jobs, in a grace period of 2 h; no annotation",
    onSigterm: "finishes",
    graceSeconds: LONG_GRACE_SECONDS,
    lastcall: true,
    expected: { redelivered: 0, outcome: "not-needed", killed: false },
  },
  {
    ...NO_SETTINGS,
    name: "finishes its jobs, and has a port that others reach; no annotation",
    onSigterm: "finishes",
    graceSeconds: LONG_GRACE_SECONDS,
    lastcall: true,
    statusOn: "0.0.0.0",
    expected: { redelivered: 0, outcome: "drained", killed: false },
  },
  {
    ...NO_SETTINGS,
    name: "finishes its jobs, but the grace period is shorter",
    onSigterm: "finishes",
    graceSeconds: SHORT_GRACE_SECONDS,
    lastcall: false,
    expected: { redelivered: 4, killed: true },
  },
  {
    ...JOB_COUNT_SETTINGS,
    name: "finishes its jobs, but the grace period is shorter; counts its jobs",
    onSigterm: "finishes",
    graceSeconds: SHORT_GRACE_SECONDS,
    expected: { redelivered: 0, outcome: "drained", killed: false },
  },
];

/** The guide's settings for a broker, with a shorter drain timeout. */
export const BROKER_ANNOTATIONS = { "lastcall.dev/drain-ports": "5672", "lastcall.dev/drain-timeout": "5s" };

export const BROKER_CASES: readonly BrokerCase[] = [
  {
    name: "a publisher that pauses",
    client: "pausing",
    expected: { outcome: "drained", unconfirmed: 0, injected: true, killed: false },
  },
  {
    name: "a consumer that has acknowledged",
    client: "acknowledging",
    expected: { outcome: "timeout", unconfirmed: 0, injected: true, killed: false },
  },
  {
    name: "a publisher that never pauses",
    client: "busy",
    expected: { outcome: "timeout", injected: true, killed: false },
  },
  {
    name: "a publisher that never pauses; `rabbitmq-upgrade drain` as the broker's own hook",
    client: "busy",
    ownHook: MAINTENANCE_COMMAND,
    expected: { outcome: "", injected: false, killed: false },
  },
];
