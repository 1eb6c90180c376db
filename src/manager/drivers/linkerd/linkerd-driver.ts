/**
 * Counts the clients that are connected to Linkerd's proxy, from the proxy's metrics. Does not send a command: the proxy's only
 * command is `/shutdown`, which most installations disable, and which would also refuse outbound requests of the app.
 */
import type { DrainSettings } from "../../../contract/drain-settings.ts";
import { driverRow } from "../../../contract/driver-table.ts";
import type { HttpEnd, HttpStream } from "../../http/http-client.ts";
import { adminTarget, parseHttpTarget } from "../../http/http-target.ts";
import { createLineBuffer } from "../../line-buffer.ts";
import type { Driver, DriverWarning } from "../../ports.ts";
import { sumOfSamples } from "../metric-samples.ts";

const [DEFAULT_URL = ""] = driverRow("linkerd").defaultUrls;
const CANNOT_COUNT =
  "driver cannot count requests or connections; samples of the sockets determine the end of the drain";
const OPEN_CONNECTIONS = 'tcp_open_connections{direction="inbound",peer="src"}';
const METRIC_PREFIX = "tcp_open_connections{";
/** Limits the memory: the metrics of a busy proxy have several megabytes. */
const LINE_LIMIT_BYTES = 16_384;
const TIMEOUT_MS = 2_000;
const ABSENT_AFTER_MS = 2_000;
const CONNECTIONS_LIMIT = 1_000_000_000;

export function createLinkerdDriver(settings: DrainSettings, stream: HttpStream, warn: DriverWarning): Driver {
  const admin = parseHttpTarget(settings.driverUrl === "" ? DEFAULT_URL : settings.driverUrl);
  let dialCount = 0;
  let isUseless = admin === undefined;
  let absentSinceMs = -1;

  const stopCounting = (why: string): void => {
    if (!isUseless) warn(CANNOT_COUNT, why);
    isUseless = true;
  };
  if (isUseless)
    warn(
      CANNOT_COUNT,
      `lastcall.dev/driver-url is ${settings.driverUrl}, expected an http URL with an IP, such as ${DEFAULT_URL}`,
    );

  const recordAbsence = (why: string): void => {
    const nowMs = performance.now();
    if (absentSinceMs < 0) absentSinceMs = nowMs;
    if (nowMs - absentSinceMs >= ABSENT_AFTER_MS) stopCounting(`Linkerd's metrics cannot be read: ${why}`);
  };

  const handleFailure = (end: HttpEnd): void => {
    // A proxy that hangs may still have clients, so it does not count as absent.
    if (end.timedOut) absentSinceMs = -1;
    else if (end.status === 200) stopCounting("Linkerd's metrics do not show the connections of clients");
    else recordAbsence(end.status === 0 ? end.failure : `status ${end.status}`);
  };

  return {
    name: "linkerd",
    dialCount: () => dialCount,
    canCount: () => !isUseless,
    startDrain: (done) => done(""),
    cancelDrain: (done) => {
      isUseless = admin === undefined;
      absentSinceMs = -1;
      done("");
    },
    countActive: (done) => {
      if (admin === undefined) {
        done(-1, false);
        return;
      }
      dialCount = dialCount + 1;
      const sum = createOpenSum();
      stream({ target: adminTarget(admin, "/metrics"), method: "GET", timeoutMs: TIMEOUT_MS }, sum.addChunk, (end) => {
        const openConnections = end.status === 200 ? sum.total() : -1;
        if (openConnections >= 0) absentSinceMs = -1;
        else handleFailure(end);
        done(openConnections, false);
      });
    },
  };
}

type OpenSum = {
  readonly addChunk: (chunk: Buffer) => string;
  readonly total: () => number;
};

function createOpenSum(): OpenSum {
  const lines = createLineBuffer(LINE_LIMIT_BYTES);
  let sum = -1;
  let hasInvalidValue = false;
  const addLine = (line: string): void => {
    if (!line.startsWith(METRIC_PREFIX) || !line.includes('direction="inbound"') || !line.includes('peer="src"'))
      return;
    const value = sumOfSamples(line, OPEN_CONNECTIONS);
    if (value >= 0) sum = Math.max(0, sum) + value;
    else hasInvalidValue = true;
  };
  return {
    addChunk: (chunk) => {
      const completeLines = lines.addChunk(chunk);
      if (completeLines === undefined) return `a line of the metrics is longer than ${LINE_LIMIT_BYTES} bytes`;
      for (const line of completeLines) addLine(line);
      return "";
    },
    total: () => (hasInvalidValue || sum > CONNECTIONS_LIMIT ? -1 : sum),
  };
}
