/**
 * Calls a hostile relay over TLS `count` times, and exits. Runs on Node and compiles natively. Arguments: port of 127.0.0.1,
 * file of the CA, first number, count. The number of a call is part of its names, so that the relay can identify the call.
 */
import { readFileSync } from "node:fs";
import { deliverReport, openWithdrawal } from "../../../src/manager/relay/relay-connection.ts";
import type { RelaySettings } from "../../../src/manager/relay/relay-settings.ts";

/** The limit of a stream, which may stay open; reports have separate limits. */
const LIMIT_MS = 300;
const ENOUGH_STATUSES = 3;

const port = Number(process.argv[2] ?? "0");
const ca = readFileSync(process.argv[3] ?? "", "utf8");
const first = Number(process.argv[4] ?? "0");
const end = first + Number(process.argv[5] ?? "0");

function settingsFor(n: number): RelaySettings {
  return {
    endpoint: { address: "127.0.0.1", port: port },
    serverName: `r${n - first}.relay.internal`,
    ca: ca,
    credential: "k1.cGF5bG9hZA.bWFj",
    namespace: "shop",
    pod: `web-${n}`,
    uid: "11111111-2222-3333-4444-555555555555",
    addresses: ["10.0.0.7"],
  };
}

function call(n: number): void {
  if (n >= end) return;
  let resultCount = 0;
  const onResult = (result: string): void => {
    resultCount = resultCount + 1;
    process.stdout.write(resultCount > 1 ? `${n} SETTLED TWICE\n` : `${n} ${result}\n`);
    if (resultCount === 1) call(n + 1);
  };
  if (n % 3 === 2) report(n, onResult);
  else followStatus(n, onResult);
}

function report(n: number, onResult: (result: string) => void): void {
  deliverReport(settingsFor(n), '{"version":1}', 2, {
    onDial: () => {},
    onEnd: (failure) => onResult(failure === "" ? "delivered" : `undelivered ${failure}`),
  });
}

function followStatus(n: number, onResult: (result: string) => void): void {
  let statusCount = 0;
  let disconnect = (): void => {};
  const timer = setTimeout(() => {
    disconnect();
    onResult(statusCount > 0 ? "status and open" : "silent");
  }, LIMIT_MS);
  disconnect = openWithdrawal(settingsFor(n), n % 2 === 0, () => performance.now(), {
    onStatus: () => {
      statusCount = statusCount + 1;
      if (statusCount !== ENOUGH_STATUSES) return;
      clearTimeout(timer);
      disconnect();
      onResult("status enough");
    },
    onClosed: (reason) => {
      clearTimeout(timer);
      onResult(statusCount > 0 ? `status and closed: ${reason}` : `closed: ${reason}`);
    },
  });
}

call(first);
