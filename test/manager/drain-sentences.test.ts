/** Tests the reasons that a report states during and after a drain. */
import { expect, test } from "vitest";
import type { OpenConnection } from "../../src/contract/drain-report.ts";
import type { DrainSettings } from "../../src/contract/drain-settings.ts";
import { whyNow } from "../../src/manager/drain/drain-reason.ts";
import {
  busyUntil,
  hook,
  type ObservedPod,
  ONE_APP,
  ownHook,
  type PodAt,
  play,
  QUIET,
  relayReported,
  type Script,
  sigterm,
  UNKNOWN_OBSERVATION,
} from "./drain-script.ts";

const TERMINATION = [hook(100, 1), ownHook(110, 2)];
const HTTP: DrainSettings = {
  ...ONE_APP,
  driver: "http",
  activeUrl: "http://127.0.0.1/active",
  drainedWhen: "requests",
};
const ENVOY: DrainSettings = { ...ONE_APP, driver: "envoy", drainedWhen: "requests" };
const LINKERD: DrainSettings = { ...ONE_APP, driver: "linkerd", drainedWhen: "connections" };

const AGES_MS = [1_500, 0, 64_000, 800, 3_600_000];
const openConnection = (at: number): OpenConnection => ({
  ...{ local: "10.0.0.5:8080", peer: `10.0.0.${at + 1}:40000` },
  ...{ ageMs: AGES_MS[at] ?? 0, state: "ESTABLISHED" },
});
const observationOf = (count: number, untracked = 0): ObservedPod => ({
  ...{ ...QUIET, openConnections: count, activity: "busy", lastEvidenceMs: 999_999, untracked },
  ...{ left: Array.from({ length: count }, (_, at) => openConnection(at)), leftTotal: count },
});
const podWithOpenConnections =
  (count: number, untracked = 0): PodAt =>
  () =>
    observationOf(count, untracked);

const DEADLINE_SENTENCE = "Released 65s after the trigger: the deadline was reached";
const PRELOAD_ANNOTATIONS = "lastcall.dev/preload: http1 (for HTTP/1.1) or ";
const ADVICE = ` To close keep-alive connections earlier, set ${PRELOAD_ANNOTATIONS}lastcall.dev/driver: http or envoy, or shorten lastcall.dev/drain-timeout.`;
const ONE_CLIENT = "10.0.0.1:40000 to port 8080 for 1.5s";
const TWO_CLIENTS = `${ONE_CLIENT}, 10.0.0.2:40000 to port 8080`;
const UNTRACKED_SENTENCE =
  " The manager tracks 131072 connections at the same time, and the Pod had 7 more, which never count as quiet.";
const NO_RESPONSE_STATUS = { reason: "the relay did not respond within 2000 ms" };
const OFFERED_STATUS = { reason: "Service web still has the Pod as a ready endpoint" };
const QUIET_SENTENCE = "Released 5s after the trigger: no traffic since the trigger.";

const SENTENCES: readonly (Partial<Script> & { readonly title: string; readonly why: string })[] = [
  { title: "no traffic since the trigger", why: QUIET_SENTENCE },
  {
    title: "a quiet period after the last traffic",
    pod: busyUntil(9_320),
    why: "Released 11.2s after the trigger: the last traffic was 9.2s after the trigger, followed by at least 2s of quiet.",
  },
  {
    title: "the last connection was closed",
    settings: { ...ONE_APP, drainedWhen: "connections" },
    pod: (nowMs) => (nowMs < 8_000 ? observationOf(1) : QUIET),
    why: "Released 8s after the trigger: no connection was open.",
  },
  {
    title: "the deadline as the criterion",
    settings: { ...ONE_APP, drainedWhen: "deadline" },
    why: "Released 65s after the trigger: the deadline was reached with no connection open.",
  },
  {
    title: "a quiet period without active requests",
    settings: ENVOY,
    pod: () => ({ ...QUIET, openConnections: 1 }),
    active: (nowMs) => (nowMs < 9_000 ? 2 : 0),
    why: "Released 11s after the trigger: no request was active for 2s.",
  },
  {
    title: "the last client of the mesh disconnected",
    settings: LINKERD,
    pod: () => ({ ...QUIET, openConnections: 1 }),
    active: (nowMs) => (nowMs < 9_000 ? 2 : 0),
    why: "Released 11s after the trigger: no client was connected to the proxy for 2s.",
  },
  {
    title: "a Pod with only UDP ports",
    pod: () => ({ ...QUIET, hasTcpListener: false, hasUdp: true }),
    why: "Released 5s after the trigger: the Pod has only UDP ports, which are never quiet, so the drain only waited for its delays.",
  },
  {
    title: "a Pod without listeners",
    pod: () => ({ ...QUIET, hasTcpListener: false }),
    why: "Nothing in the Pod listens on a non-loopback address, so there was nothing to drain.",
  },
  {
    title: "an app that closed its listeners",
    pod: (nowMs) => ({ ...QUIET, hasTcpListener: nowMs < 2_000, lastEvidenceMs: 1_000 }),
    why: "Released 2.9s after the trigger: the app closed its listeners, and no client is connected.",
  },
  {
    title: "a Pod whose samples are all interrupted",
    pod: () => UNKNOWN_OBSERVATION,
    why: `${DEADLINE_SENTENCE} and the traffic could not be observed: the dump failed.`,
  },
  {
    title: "a connection that stays open",
    pod: podWithOpenConnections(1),
    why: `${DEADLINE_SENTENCE} with 1 connection still open: ${ONE_CLIENT}.${ADVICE}`,
  },
  {
    title: "three connections that stay open",
    pod: podWithOpenConnections(3),
    why: `${DEADLINE_SENTENCE} with 3 connections still open: ${TWO_CLIENTS}, 10.0.0.3:40000 to port 8080 for 64s.${ADVICE}`,
  },
  {
    title: "more than three connections that stay open",
    pod: podWithOpenConnections(5),
    why: `${DEADLINE_SENTENCE} with 5 connections still open: ${TWO_CLIENTS}, 10.0.0.3:40000 to port 8080 for 64s and 2 more.${ADVICE}`,
  },
  {
    title: "connections that stay open although the app's drain URL was called",
    settings: { ...ONE_APP, driver: "http", drainUrl: "http://127.0.0.1/drain" },
    pod: podWithOpenConnections(2),
    why: `${DEADLINE_SENTENCE} with 2 connections still open: ${TWO_CLIENTS}.`,
  },
  {
    title: "a connection that stays open in a preloaded process",
    settings: { ...ONE_APP, preload: "http1" },
    pod: podWithOpenConnections(1),
    why: `${DEADLINE_SENTENCE} with 1 connection still open: ${ONE_CLIENT}.${ADVICE.replace(PRELOAD_ANNOTATIONS, "")}`,
  },
  {
    title: "connections beyond the number that the manager tracks",
    pod: podWithOpenConnections(1, 7),
    why: `${DEADLINE_SENTENCE} with 1 connection still open: ${ONE_CLIENT}.${UNTRACKED_SENTENCE}${ADVICE}`,
  },
  {
    title: "connections, none of which the manager tracks",
    pod: podWithOpenConnections(0, 7),
    why: `${DEADLINE_SENTENCE} after less than 2s without traffic.${UNTRACKED_SENTENCE}`,
  },
  {
    title: "traffic at the deadline without an open connection",
    pod: (nowMs) => ({ ...QUIET, activity: "busy", lastEvidenceMs: nowMs }),
    why: `${DEADLINE_SENTENCE} after less than 2s without traffic.`,
  },
  {
    title: "an active request of the app at the deadline",
    settings: HTTP,
    pod: podWithOpenConnections(1),
    active: () => 1,
    why: `${DEADLINE_SENTENCE} with 1 active request.`,
  },
  {
    title: "an active request of the proxy at the deadline",
    settings: ENVOY,
    pod: podWithOpenConnections(1),
    active: () => 1,
    why: `${DEADLINE_SENTENCE} with 1 active request or session.`,
  },
  {
    title: "several active requests of the proxy at the deadline",
    settings: ENVOY,
    pod: podWithOpenConnections(1),
    active: () => 3,
    why: `${DEADLINE_SENTENCE} with 3 active requests or sessions.`,
  },
  {
    title: "requests that pause for less than the quiet period",
    settings: { ...HTTP, quietPeriodMs: 70_000 },
    pod: podWithOpenConnections(1),
    active: () => 0,
    why: `${DEADLINE_SENTENCE} after less than 70s without an active request.`,
  },
  {
    title: "a driver that cannot count",
    settings: HTTP,
    pod: podWithOpenConnections(1),
    active: () => -1,
    why: `${DEADLINE_SENTENCE} and the last count of active requests failed.`,
  },
  {
    title: "a client of the mesh that stays connected",
    settings: LINKERD,
    pod: podWithOpenConnections(1),
    active: () => 1,
    why: `${DEADLINE_SENTENCE} with 1 connection of clients to the proxy still open.`,
  },
  {
    title: "several clients of the mesh that stay connected",
    settings: LINKERD,
    pod: podWithOpenConnections(1),
    active: () => 2,
    why: `${DEADLINE_SENTENCE} with 2 connections of clients to the proxy still open.`,
  },
  {
    title: "a withdrawal after the trigger",
    events: [...TERMINATION, relayReported(2_110, "out", true)],
    why: `${QUIET_SENTENCE} The Pod was withdrawn after 2s.`,
  },
  {
    title: "a withdrawal before the trigger",
    events: [...TERMINATION, relayReported(105, "out", false)],
    why: `${QUIET_SENTENCE} The Pod was already withdrawn at the trigger.`,
  },
  {
    title: "a Pod that is not terminating",
    events: [...TERMINATION, relayReported(200, "in", false)],
    why: `${QUIET_SENTENCE} EndpointSlices still listed the Pod as ready, because the kubelet stopped the Pod without a deletion.`,
  },
  {
    title: "a relay that does not answer",
    events: [...TERMINATION, relayReported(200, "unknown", false, NO_RESPONSE_STATUS)],
    why: `${QUIET_SENTENCE} Whether the Pod was withdrawn is unknown (the relay did not respond within 2000 ms), so the drain only waited for its drain delay.`,
  },
  {
    title: "a relay that stops responding",
    events: [
      ...TERMINATION,
      relayReported(2_110, "out", true),
      relayReported(3_000, "unknown", false, NO_RESPONSE_STATUS),
    ],
    why: `${QUIET_SENTENCE} The Pod was withdrawn after 2s; later updates were lost (the relay did not respond within 2000 ms).`,
  },
  {
    title: "a connection that stays open after the withdrawal",
    events: [...TERMINATION, relayReported(2_110, "out", true)],
    pod: podWithOpenConnections(1),
    why: `${DEADLINE_SENTENCE} with 1 connection still open: ${ONE_CLIENT}.${ADVICE} The Pod was withdrawn after 2s.`,
  },
  {
    title: "a Pod that is never withdrawn",
    events: [...TERMINATION, relayReported(200, "in", true, OFFERED_STATUS)],
    why: `${DEADLINE_SENTENCE} while EndpointSlices still listed the Pod as ready: Service web still has the Pod as a ready endpoint.`,
  },
  {
    title: "a Pod that is never withdrawn, with open connections",
    events: [...TERMINATION, relayReported(200, "in", true, OFFERED_STATUS)],
    pod: podWithOpenConnections(2),
    why: `${DEADLINE_SENTENCE} while EndpointSlices still listed the Pod as ready: Service web still has the Pod as a ready endpoint, with 2 connections still open: ${TWO_CLIENTS}.`,
  },
  {
    title: "a deadline that SIGTERM moved forward",
    settings: { ...ONE_APP, quietPeriodMs: 500 },
    events: [sigterm(50)],
    pod: (nowMs) => (nowMs < 200 ? observationOf(1) : QUIET),
    why: `Released 1.8s after the trigger: the deadline, shortened from 65s, was reached before the end of the delays, with 1 connection still open: ${ONE_CLIENT}.`,
  },
  {
    title: "a second SIGTERM during the drain",
    events: [...TERMINATION, sigterm(2_000)],
    why: "The manager received SIGTERM during the drain, because the grace period was over.",
  },
];

test.for(SENTENCES)("the report states the reason of a drain's end: $title", ({ title: _, why, ...script }) => {
  expect(play({ events: TERMINATION, ...script }).summary.why).toBe(why);
});

const NOT_WITHDRAWN = relayReported(200, "in", true, OFFERED_STATUS);
const STILL_DRAINING = "Still draining, for at most 45s more,";
const RUNNING_DRAINS: readonly (Partial<Script> & {
  readonly title: string;
  readonly atMs: number;
  readonly expectedReason: string;
})[] = [
  {
    title: "the delays",
    ...{ atMs: 2_110, pod: podWithOpenConnections(1) },
    expectedReason: `Still draining, for at most 63s more, before the end of the delays, with 1 connection still open: ${ONE_CLIENT}.`,
  },
  {
    title: "the withdrawal of the Pod",
    ...{ atMs: 12_110, events: [...TERMINATION, NOT_WITHDRAWN] },
    expectedReason:
      "Still draining, for at most 53s more, because EndpointSlices still list the Pod as ready: Service web still has the Pod as a ready endpoint.",
  },
  {
    title: "open connections",
    ...{ atMs: 20_110, pod: podWithOpenConnections(2) },
    expectedReason: `${STILL_DRAINING} with 2 connections still open: ${TWO_CLIENTS}.${ADVICE}`,
  },
  {
    title: "the quiet period",
    ...{ atMs: 20_110, pod: (nowMs) => ({ ...QUIET, activity: "busy", lastEvidenceMs: nowMs }) },
    expectedReason: `${STILL_DRAINING} after less than 2s without traffic.`,
  },
  {
    title: "active requests",
    ...{ atMs: 20_110, settings: HTTP, pod: podWithOpenConnections(1), active: () => 3 },
    expectedReason: `${STILL_DRAINING} with 3 active requests.`,
  },
  {
    title: "clients of the mesh",
    ...{ atMs: 20_110, settings: LINKERD, pod: podWithOpenConnections(1), active: () => 2 },
    expectedReason: `${STILL_DRAINING} with 2 connections of clients to the proxy still open.`,
  },
  {
    title: "the deadline",
    ...{ atMs: 20_110, settings: { ...ONE_APP, drainedWhen: "deadline" } },
    expectedReason: `${STILL_DRAINING} with no connection open.`,
  },
  {
    title: "the deadline, because the traffic cannot be observed",
    ...{ atMs: 20_110, pod: () => UNKNOWN_OBSERVATION },
    expectedReason: `${STILL_DRAINING} and the traffic could not be observed: the dump failed.`,
  },
];

test.for(RUNNING_DRAINS)(
  "the report of a running drain states what the drain waits for: $title",
  ({ title: _, atMs, expectedReason, ...script }) => {
    const { state } = play({ events: TERMINATION, untilMs: atMs, ...script });
    expect(whyNow(script.settings ?? ONE_APP, state, atMs)).toBe(expectedReason);
  },
);

test("the report contains the same reason a long time after the drain", () => {
  const { state } = play({ events: TERMINATION });
  expect(whyNow(ONE_APP, state, 999_999)).toBe(QUIET_SENTENCE);
});
