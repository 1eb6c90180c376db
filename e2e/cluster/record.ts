/** Stores the record of a cluster, from which other processes read the folder of its programs and the processes to stop. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Minor } from "../build/module-table.ts";
import { isAlive, type ProcessIdentity } from "../host/process-identity.ts";
import type { Host } from "../host/this-host.ts";

/** Modes of kube-proxy; the first is the default. */
export const PROXY_MODES = ["nftables", "iptables"] as const;
export type ProxyMode = (typeof PROXY_MODES)[number];

export type ClusterSettings = { readonly minor: Minor; readonly proxyMode: ProxyMode };

export type ClusterRecord = ClusterSettings & {
  /** The value stays `starting` if the start was killed. */
  readonly stage: "starting" | "up";
  /** The folder of the Kubernetes programs. */
  readonly binaries: string;
  /** The unshare process on the host; its end stops the whole cluster. */
  readonly outer: ProcessIdentity;
  /** PID 1 of the namespaces. */
  readonly init: ProcessIdentity;
  readonly host: Host;
};

export function readRecord(file: string): ClusterRecord | undefined {
  try {
    const parsed: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

export function writeRecord(file: string, record: ClusterRecord): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(record, null, 2)}\n`);
  renameSync(`${file}.new`, file);
}

export function isRunning(record: ClusterRecord): boolean {
  return isAlive(record.outer) && isAlive(record.init);
}

/** Validates the record, so that an incomplete record cannot cause the end of an unrelated process. */
function isRecord(value: unknown): value is ClusterRecord {
  return (
    isObject(value) && isIdentity(value["outer"]) && isIdentity(value["init"]) && typeof value["binaries"] === "string"
  );
}

function isIdentity(value: unknown): value is ProcessIdentity {
  return isObject(value) && typeof value["pid"] === "number" && typeof value["startTicks"] === "number";
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
