/**
 * Prints the files whose code is executed for a change of an EndpointSlice, from the API server's watch to the Pod's manager.
 * Relay and manager run in this process, and the manager's relay client in a separate process (walked-client.ts).
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSecureContext } from "node:tls";
import { Registry } from "prom-client";
import { createApiClient } from "../../src/api-server/api-client.ts";
import { openPort } from "../../src/open-port.ts";
import { NO_LOST_DRAINS } from "../../src/relay/lost/lost-drains.ts";
import { createRelayLimits } from "../../src/relay/server/relay-limits.ts";
import { createRelayServer } from "../../src/relay/server/relay-server.ts";
import { REAL_CLOCK } from "../../src/relay/slices/clock.ts";
import { createSliceWatches } from "../../src/relay/slices/slice-watches.ts";
import { addWithdrawalRoute } from "../../src/relay/withdrawal/withdrawal-route.ts";
import { startFakeApiServer } from "../api-server/fake-api-server.ts";
import {
  type Conditions,
  entryOf,
  READY_CONDITIONS,
  sliceWith,
  TERMINATING_CONDITIONS,
  WEB_0,
} from "../kubernetes/endpoints/raw-slices.ts";
import { createAuthority, issueLeaf, relayEnvironment } from "../manager/fake-relay.ts";
import { eventually } from "../time/eventually.ts";
import { startCoverage } from "./executed-files.ts";
import { startManager } from "./walked-manager.ts";

const SLICES = "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices";
const folder = mkdtempSync(join(tmpdir(), "lastcall-walk-"));
const clientFiles = join(folder, "client.json");

/** Has no periodic timers: on a busy host they would fire during the change and add files to the result. */
const clock = { ...REAL_CLOCK, every: () => () => undefined };
const api = await startFakeApiServer();
const putSlice = (conditions: Conditions): void => api.put(SLICES, sliceWith({}, entryOf(WEB_0, conditions)) as never);
putSlice(READY_CONDITIONS);
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const registry = new Registry();
const { request, stream } = createApiClient(api.connection);
const { watchPod } = createSliceWatches({
  request,
  stream,
  clock,
  random: Math.random,
  readsPods: false,
  registry,
  log,
});
const ca = await createAuthority();
const leaf = await issueLeaf(ca);
const relay = createRelayServer(log, () => createSecureContext({ cert: leaf.cert, key: leaf.key }));
addWithdrawalRoute(relay, {
  checkCredential: () => ({ namespace: "shop", ownerKind: "", ownerName: "", ownerUid: "", nonce: "n" }),
  limits: createRelayLimits(),
  ...{
    nowMs: clock.nowMs,
    registry,
    watchPod,
    lostDrains: NO_LOST_DRAINS,
    isGraceful: () => false,
    clock,
    wallMs: Date.now,
  },
});
await relay.ready();
const { port } = await openPort(relay.server, { name: "relay", host: "127.0.0.1", port: 0 });

const manager = await startManager(
  { hooks: [{ container: "app", role: "app" }], drainDelayMs: 60_000 },
  { ...relayEnvironment({ address: "127.0.0.1", port }, ca), POD_UID: WEB_0.uid },
  [process.execPath, join(import.meta.dirname, "walked-client.ts"), clientFiles],
);
void manager.call("POST", "/drain").catch(() => undefined);
await manager.waitForLog('"detail":"in');
const stopCoverage = startCoverage();
putSlice(TERMINATING_CONDITIONS);
await manager.waitForLog('"detail":"out');
// A timer of the hook's connection may fire during the change; its files do not process the slice.
const relayFiles = stopCoverage().filter((file) => !file.startsWith("manager/calls/"));
const client = await eventually(() => JSON.parse(readFileSync(clientFiles, "utf8")) as readonly string[]);
rmSync(folder, { recursive: true });
process.stdout.write(JSON.stringify({ files: relayFiles, client }));
process.exit(0);
