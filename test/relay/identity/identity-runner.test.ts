/** Tests the relay's identity over real TLS: like managers, clients connect to an IP address and trust one CA and one name. */
import type { AddressInfo } from "node:net";
import { connect, createServer, type Server } from "node:tls";
import { Registry } from "prom-client";
import { afterEach, describe, expect, test } from "vitest";
import { newestValidCa, serverNameOf } from "../../../src/relay/identity/identity.ts";
import { type RunningIdentity, runIdentity } from "../../../src/relay/identity/identity-runner.ts";
import { IDENTITY_TOOLS } from "../../../src/relay/identity/secret-content.ts";
import { createFakeSecret, type FakeSecret } from "./fake-secret.ts";
import { DAY_MS, YEAR_MS } from "./fake-tools.ts";

const TIMEOUT = { timeout: 180_000 };
const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** Times are relative to today, because clients verify certificates with the real clock. */
const TODAY_MS = Date.now();

type Line = { readonly level: string; readonly sentence: string; readonly keys: object };

type Replica = RunningIdentity & {
  readonly clock: { wallMs: number; nowMs: number };
  readonly lines: readonly Line[];
  readonly registry: Registry;
};

function createReplica(secret: FakeSecret, wallMs = TODAY_MS): Replica {
  const clock = { wallMs, nowMs: 1_000_000 };
  const lines: Line[] = [];
  const log = (level: string) => (keys: object, sentence: string) => lines.push({ level, sentence, keys });
  const registry = new Registry();
  const identity = runIdentity({
    secrets: secret.store,
    tools: IDENTITY_TOOLS,
    wallMs: () => clock.wallMs,
    nowMs: () => clock.nowMs,
    log: { info: log("info"), warn: log("warn") },
    registry,
  });
  return { ...identity, clock, lines, registry };
}

async function listenOn(replica: Replica): Promise<number> {
  const server: Server = createServer({
    SNICallback: (name, done) => {
      Promise.resolve(replica.contextFor(name)).then((context) => done(null, context), done);
    },
  });
  server.on("tlsClientError", () => undefined);
  server.on("secureConnection", (socket) => socket.on("error", () => undefined));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Resolves with the fingerprint of the server's certificate or the client's verification error. */
function readServerFingerprint(port: number, ca: string, servername: string): Promise<string> {
  const pem = `-----BEGIN CERTIFICATE-----\n${ca}\n-----END CERTIFICATE-----\n`;
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, ca: pem, servername }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on("error", (error) => resolve(error.message));
  });
}

/** A valid server name for which there is no CA. */
const UNKNOWN_NAME = serverNameOf({ id: "" });

const FINGERPRINT = /^([0-9A-F]{2}:){31}[0-9A-F]{2}$/;

/** Returns the CA and the server name that injection currently adds to Pods. */
function injectedAccessOf(replica: Replica): { readonly ca: string; readonly name: string } {
  const ca = newestValidCa(replica.identity(), replica.clock.wallMs);
  return { ca: ca?.id ?? "", name: serverNameOf(ca ?? { id: "" }) };
}

describe("a client that trusts one CA of the relay and connects to an IP address", () => {
  test("is served by every replica, each with its own certificate", TIMEOUT, async () => {
    const secret = createFakeSecret();
    const replicas = [createReplica(secret), createReplica(secret)];
    const fingerprints: string[] = [];
    for (const replica of replicas) {
      await replica.reconcile();
      const { ca, name } = injectedAccessOf(replicas[0] ?? replica);
      fingerprints.push(await readServerFingerprint(await listenOn(replica), ca, name));
    }
    for (const fingerprint of fingerprints) expect(fingerprint).toMatch(FINGERPRINT);
    expect(new Set(fingerprints).size).toBe(2);
  });

  test("refuses a replica with another Secret, and a certificate for another name", TIMEOUT, async () => {
    const [replica, otherReplica] = [createReplica(createFakeSecret()), createReplica(createFakeSecret())];
    await replica.reconcile();
    await otherReplica.reconcile();
    const { ca } = injectedAccessOf(replica);
    expect(
      await readServerFingerprint(await listenOn(otherReplica), ca, injectedAccessOf(otherReplica).name),
    ).toContain("unable to");
    const misnamedReplica = { ...replica, contextFor: () => replica.contextFor(injectedAccessOf(replica).name) };
    expect(await readServerFingerprint(await listenOn(misnamedReplica), ca, UNKNOWN_NAME)).toContain("does not match");
  });

  test("is served after a newer CA is created", TIMEOUT, async () => {
    const secret = createFakeSecret();
    const oldReplica = createReplica(secret, TODAY_MS - 6 * YEAR_MS);
    await oldReplica.reconcile();
    const first = injectedAccessOf(oldReplica);
    const currentReplica = createReplica(secret);
    await currentReplica.reconcile();
    const second = injectedAccessOf(currentReplica);
    expect(second.name).not.toBe(first.name);
    const port = await listenOn(currentReplica);
    expect(await readServerFingerprint(port, first.ca, first.name)).toMatch(FINGERPRINT);
    expect(await readServerFingerprint(port, second.ca, second.name)).toMatch(FINGERPRINT);
    expect(await readServerFingerprint(port, first.ca, second.name)).toContain("unable to");
  });

  test("is not served if the CA has expired", TIMEOUT, async () => {
    const secret = createFakeSecret();
    const oldReplica = createReplica(secret, TODAY_MS - 11 * YEAR_MS);
    await oldReplica.reconcile();
    const currentReplica = createReplica(secret);
    await currentReplica.reconcile();
    expect(await currentReplica.contextFor(injectedAccessOf(oldReplica).name)).toBeUndefined();
    expect(await currentReplica.contextFor(injectedAccessOf(currentReplica).name)).toBeDefined();
  });
});

describe("the TLS certificate of a relay replica", () => {
  test(
    "is renewed after half of its validity of a week, even while the relay's Secret cannot be read",
    TIMEOUT,
    async () => {
      const secret = createFakeSecret();
      const replica = createReplica(secret);
      await replica.reconcile();
      const { ca, name } = injectedAccessOf(replica);
      const port = await listenOn(replica);
      const first = await readServerFingerprint(port, ca, name);
      replica.clock.wallMs += 3 * DAY_MS;
      await replica.reconcile();
      expect(await readServerFingerprint(port, ca, name)).toBe(first);
      replica.clock.wallMs += DAY_MS;
      secret.rejectionMessage = "no route to host";
      await replica.reconcile();
      const second = await readServerFingerprint(port, ca, name);
      expect(second).toMatch(FINGERPRINT);
      expect(second).not.toBe(first);
    },
  );

  test("is renewed after the correction of a clock that was ahead", TIMEOUT, async () => {
    const secret = createFakeSecret();
    const replica = createReplica(secret);
    await replica.reconcile();
    const { ca, name } = injectedAccessOf(replica);
    const port = await listenOn(replica);
    const first = await readServerFingerprint(port, ca, name);
    replica.clock.wallMs -= 60_000;
    await replica.reconcile();
    expect(await readServerFingerprint(port, ca, name)).not.toBe(first);
  });
});

describe("an unknown CA in a TLS handshake", () => {
  test("is read from the Secret before the handshake of its first client completes", TIMEOUT, async () => {
    const secret = createFakeSecret();
    const [first, second] = [createReplica(secret), createReplica(secret)];
    await first.reconcile();
    await second.reconcile();
    secret.put(undefined);
    await first.reconcile();
    const { ca, name } = injectedAccessOf(first);
    const port = await listenOn(second);
    second.clock.nowMs += 1_000;
    expect(await readServerFingerprint(port, ca, name)).toMatch(FINGERPRINT);
  });

  test("causes at most one read of the Secret per second, however many clients connect", TIMEOUT, async () => {
    const secret = createFakeSecret();
    const replica = createReplica(secret);
    await replica.reconcile();
    const callCount = secret.calls.length;
    const requestContexts = () =>
      Promise.all(Array.from({ length: 500 }, (_, index) => replica.contextFor(serverNameOf({ id: String(index) }))));
    replica.clock.nowMs += 1_000;
    expect(new Set(await requestContexts())).toEqual(new Set([undefined]));
    replica.clock.nowMs += 999;
    await requestContexts();
    await replica.reconcileSoon();
    expect(secret.calls.length - callCount).toBe(1);
    replica.clock.nowMs += 1;
    await requestContexts();
    expect(secret.calls.length - callCount).toBe(2);
  });

  test("does not delay the handshake while the API server does not respond", TIMEOUT, async () => {
    const secret = createFakeSecret();
    const replica = createReplica(secret);
    await replica.reconcile();
    const blockedReplica = createReplica({
      ...secret,
      store: { ...secret.store, read: () => new Promise(() => undefined) },
    });
    expect(await blockedReplica.contextFor(UNKNOWN_NAME)).toBeUndefined();
  });

  test.for([
    "",
    "localhost",
    "lastcall-webhook.lastcall.svc",
    "relay-0.lastcall.internal",
    "relay-x.lastcall.internal",
  ])("does not cause a read of the Secret if the server name is not a relay's: %j", async (name) => {
    const secret = createFakeSecret();
    const replica = createReplica(secret);
    expect(replica.contextFor(name)).toBeUndefined();
    expect(secret.calls).toEqual([]);
  });
});

test("a relay Secret that cannot be read is logged once, and again after ten minutes", TIMEOUT, async () => {
  const secret = createFakeSecret();
  secret.rejectionMessage = "cannot read Secret lastcall/relay: the API server responded with 403";
  const replica = createReplica(secret);
  for (let round = 0; round < 5; round += 1) await replica.reconcile();
  expect(replica.lines).toMatchObject([{ level: "warn", keys: { why: secret.rejectionMessage, ready: false } }]);
  replica.clock.nowMs += 600_000;
  await replica.reconcile();
  expect(replica.lines).toHaveLength(2);
  const metrics = await replica.registry.metrics();
  expect(metrics).toContain("lastcall_relay_identity_failures_total 6");
  expect(metrics).toContain("lastcall_relay_identity_ready 0");
  secret.rejectionMessage = "";
  await replica.reconcile();
  expect(await replica.registry.metrics()).toContain("lastcall_relay_identity_ready 1");
  expect(JSON.stringify(replica.lines)).not.toContain("PRIVATE");
});
