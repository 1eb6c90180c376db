/** Compares the limits in docs/relay.md with those of the code. */
import { createSecretKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  RELAY_BODY_LIMIT_BYTES,
  RELAY_LINE_LIMIT_BYTES,
  RELAY_STREAM_LIMIT_MS,
} from "../../src/contract/relay-wire.ts";
import { CA_LIFE_MS, dropOldest, findMissing, type RelayIdentity } from "../../src/relay/identity/identity.ts";
import { CANDIDATES_LIMIT } from "../../src/relay/lost/lost-drains.ts";
import { createRelayLimits } from "../../src/relay/server/relay-limits.ts";
import { CONNECTION_LIMIT } from "../../src/relay/server/relay-server.ts";
import { SLICE_WATCH_TIMING } from "../../src/relay/slices/namespace-watch.ts";
import { HEAP_LIMIT_MIB } from "../../src/relay/thread/relay-worker.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/relay.md"), "utf8");
const DAY_MS = 86_400_000;
const ATTEMPTS_LIMIT = 100_000;

/** Returns the table row with this first cell. */
function findRow(firstCell: string): string {
  const rows = PAGE.split("\n").filter((line) => line.startsWith(`| ${firstCell}`));
  expect(rows).toHaveLength(1);
  return rows[0] ?? "";
}

/** Formats 12000 as `12 000`, like the page. */
function formatNumber(number: number): string {
  return String(number).replace(/(?<=^[0-9]{1,3})(?=([0-9]{3})+$)/, " ");
}

/** Counts the calls before the first refusal. */
function countAccepted(isAccepted: (attempt: number) => boolean): number {
  let attempt = 0;
  while (attempt < ATTEMPTS_LIMIT && isAccepted(attempt)) attempt += 1;
  return attempt;
}

test("docs/relay.md has the limits of open streams for a replica, a namespace and a Pod", () => {
  const namespaceLimits = createRelayLimits();
  const namespaceStreams = countAccepted(
    (attempt) => namespaceLimits.startStream({ namespace: "a", uid: `${attempt}` }) === undefined,
  );
  const podLimits = createRelayLimits();
  const podStreams = countAccepted(() => podLimits.startStream({ namespace: "a", uid: "same" }) === undefined);
  const replicaLimits = createRelayLimits();
  // Each stream is of a different Pod in a different namespace, so that only the total limit applies.
  countAccepted((attempt) => replicaLimits.startStream({ namespace: `${attempt}`, uid: "" }) === undefined);
  expect(findRow("open streams")).toContain(
    `${formatNumber(replicaLimits.streams())} per replica, half of them if only one namespace has streams`,
  );
  expect(namespaceStreams).toBe(replicaLimits.streams() / 2);
  expect(findRow("open streams")).toContain(`${podStreams} per Pod`);
  const values = readFileSync(join(ROOT, "charts/lastcall/values.yaml"), "utf8");
  expect(values).toContain(`a replica's limit is ${formatNumber(replicaLimits.streams())}`);
});

test("docs/relay.md has the limit of Pods that are read to find lost drains", () => {
  expect(findRow("Pods that are read")).toContain(`${formatNumber(CANDIDATES_LIMIT)} per replica`);
});

test("docs/relay.md has the limits of heartbeats and of a namespace's requests", () => {
  const limits = createRelayLimits();
  expect(findRow("streams with a heartbeat")).toContain(
    `${formatNumber(countAccepted((attempt) => limits.startHeartbeat(`${attempt}`)))} per replica`,
  );
  const burst = countAccepted(() => limits.takeRequestToken("a", 0));
  const acceptedPerSecond = countAccepted(() => limits.takeRequestToken("a", 1_000));
  expect(findRow("requests of a namespace")).toContain(
    `${formatNumber(burst)} at once, then ${formatNumber(acceptedPerSecond)} a second`,
  );
});

test("docs/relay.md has the limits of request sizes, request times and connections", () => {
  expect(findRow("connections")).toContain(`| ${formatNumber(CONNECTION_LIMIT)} per replica`);
  expect(findRow("request body")).toContain(`| ${RELAY_BODY_LIMIT_BYTES / 1_024} KiB |`);
  expect(findRow("line of a stream")).toContain(`| ${RELAY_LINE_LIMIT_BYTES / 1_024} KiB |`);
  expect(findRow("duration of a stream")).toContain(`${RELAY_STREAM_LIMIT_MS / 3_600_000} hours`);
});

test("docs/relay.md has the limit of watched namespaces", () => {
  const { namespaceLimit, lingerMs, openings } = SLICE_WATCH_TIMING;
  expect(findRow("new watches")).toContain(`${openings.capacity} at once, then ${1_000 / openings.refillMs} a second`);
  expect(findRow("namespaces whose EndpointSlices are watched")).toContain(`${namespaceLimit} per replica`);
  expect(findRow("namespaces whose EndpointSlices are watched")).toContain(`for another ${lingerMs / 1_000} s`);
});

test("docs/relay.md has the validity of CAs and keys", () => {
  const key = (createdMs: number) => ({ kid: String(createdMs), createdMs, secret: createSecretKey(Buffer.alloc(32)) });
  const ca = { id: "a", cert: "", key: "", der: "", validFromMs: 0, validUntilMs: CA_LIFE_MS };
  const identity: RelayIdentity = { cas: [ca], keys: [key(0)] };
  const renewalDayOf = (entry: "generation" | "key") =>
    countAccepted((day) => !findMissing(identity, day * DAY_MS)[entry]);
  expect(findRow("CA |")).toContain(
    `| ${CA_LIFE_MS / DAY_MS / 365} years | after ${(renewalDayOf("generation") / 365) | 0} years`,
  );
  const identityWithManyKeys = { cas: [], keys: Array.from({ length: 40 }, (_, number) => key(number)) };
  expect(findRow("signing key")).toContain(`until ${dropOldest(identityWithManyKeys).keys.length} newer keys exist`);
  expect(findRow("signing key")).toContain(`after ${renewalDayOf("key")} days`);
});

test("docs/relay.md has the memory limit that the chart sets", () => {
  const template = readFileSync(join(ROOT, "charts/lastcall/templates/_names.tpl"), "utf8");
  const [, mebibytes] = /"memory" \(ternary "([0-9]+)Mi" "[0-9]+Mi" \.Values\.relay\.enabled\)/.exec(template) ?? [];
  expect(mebibytes).toBeDefined();
  expect(findRow("memory of a replica")).toContain(
    `limit is ${Number(mebibytes).toLocaleString("en").replace(",", " ")} MiB`,
  );
  expect(findRow("heap of the relay's thread")).toContain(`${HEAP_LIMIT_MIB} MiB`);
});
