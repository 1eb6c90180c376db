/** The limits in docs/relay.md equal those of the code. */
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
import { SLICE_PACE } from "../../src/relay/slices/namespace-watch.ts";
import { HEAP_LIMIT_MIB } from "../../src/relay/thread/relay-worker.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/relay.md"), "utf8");
const DAY_MS = 86_400_000;
const MANY = 100_000;

/** Returns the table row with this first cell. */
function row(first: string): string {
  const found = PAGE.split("\n").filter((line) => line.startsWith(`| ${first}`));
  expect(found).toHaveLength(1);
  return found[0] ?? "";
}

/** Formats 12000 as the page does. */
function shown(number: number): string {
  return String(number).replace(/(?<=^[0-9]{1,3})(?=([0-9]{3})+$)/, " ");
}

/** Counts the calls before the first refusal. */
function countOf(taken: (turn: number) => boolean): number {
  let turn = 0;
  while (turn < MANY && taken(turn)) turn += 1;
  return turn;
}

test("docs/relay.md has the limits of open streams for a replica, a namespace and a Pod", () => {
  const alone = createRelayLimits();
  const ofOne = countOf((turn) => alone.startStream({ namespace: "a", uid: `${turn}` }) === undefined);
  const podLimits = createRelayLimits();
  const ofPod = countOf(() => podLimits.startStream({ namespace: "a", uid: "same" }) === undefined);
  const all = createRelayLimits();
  // One stream per Pod and namespace, so that only the total limit applies.
  countOf((turn) => all.startStream({ namespace: `${turn}`, uid: "" }) === undefined);
  expect(row("open streams")).toContain(
    `${shown(all.streams())} per replica, half of them for a single active namespace`,
  );
  expect(ofOne).toBe(all.streams() / 2);
  expect(row("open streams")).toContain(`${ofPod} per Pod`);
  const values = readFileSync(join(ROOT, "charts/lastcall/values.yaml"), "utf8");
  expect(values).toContain(`a replica's limit is ${shown(all.streams())}`);
});

test("docs/relay.md has the limit of Pods that are read to find lost drains", () => {
  expect(row("Pods followed")).toContain(`${shown(CANDIDATES_LIMIT)} per replica`);
});

test("docs/relay.md has the limits of heartbeats and of a namespace's requests", () => {
  const limits = createRelayLimits();
  expect(row("streams with a heartbeat")).toContain(
    `${shown(countOf((turn) => limits.startHeartbeat(`${turn}`)))} per replica`,
  );
  const atOnce = countOf(() => limits.takeRequest("a", 0));
  const inSecond = countOf(() => limits.takeRequest("a", 1_000));
  expect(row("requests of a namespace")).toContain(`${shown(atOnce)} at once, then ${shown(inSecond)} a second`);
});

test("docs/relay.md has the limits of request sizes, request times and connections", () => {
  expect(row("connections")).toContain(`| ${shown(CONNECTION_LIMIT)} per replica`);
  expect(row("request body")).toContain(`| ${RELAY_BODY_LIMIT_BYTES / 1_024} KiB |`);
  expect(row("line of a stream")).toContain(`| ${RELAY_LINE_LIMIT_BYTES / 1_024} KiB |`);
  expect(row("duration of a stream")).toContain(`${RELAY_STREAM_LIMIT_MS / 3_600_000} hours`);
});

test("docs/relay.md has the limit of watched namespaces", () => {
  const { namespaceLimit, lingerMs, openings } = SLICE_PACE;
  expect(row("new watches")).toContain(`${openings.capacity} at once, then ${1_000 / openings.refillMs} a second`);
  expect(row("namespaces watched")).toContain(`${namespaceLimit} per replica`);
  expect(row("namespaces watched")).toContain(`for another ${lingerMs / 1_000} s`);
});

test("docs/relay.md has the validity of CAs and keys", () => {
  const key = (madeMs: number) => ({ kid: String(madeMs), madeMs, secret: createSecretKey(Buffer.alloc(32)) });
  const ca = { id: "a", cert: "", key: "", der: "", validFromMs: 0, validUntilMs: CA_LIFE_MS };
  const identity: RelayIdentity = { generations: [ca], keys: [key(0)] };
  const dayOf = (what: "generation" | "key") => countOf((day) => !findMissing(identity, day * DAY_MS)[what]);
  expect(row("CA |")).toContain(`| ${CA_LIFE_MS / DAY_MS / 365} years | after ${(dayOf("generation") / 365) | 0},`);
  const many = { generations: [], keys: Array.from({ length: 40 }, (_, number) => key(number)) };
  expect(row("signing key")).toContain(`the last ${dropOldest(many).keys.length} are accepted`);
  expect(row("signing key")).toContain(`after ${dayOf("key")} days`);
});

test("docs/relay.md has the memory limit that the chart sets", () => {
  const names = readFileSync(join(ROOT, "charts/lastcall/templates/_names.tpl"), "utf8");
  const [, mebibytes] = /"memory" \(ternary "([0-9]+)Mi" "[0-9]+Mi" \.Values\.relay\.enabled\)/.exec(names) ?? [];
  expect(mebibytes).toBeDefined();
  expect(row("memory of a replica")).toContain(
    `limit is ${Number(mebibytes).toLocaleString("en").replace(",", " ")} MiB`,
  );
  expect(row("heap of the relay's thread")).toContain(`${HEAP_LIMIT_MIB} MiB`);
});
