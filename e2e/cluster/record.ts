/** The record of a running cluster, with which another process can use it and end exactly its processes. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Minor } from "../build/module-table.ts";
import { isAlive, type ProcessIdentity } from "../host/process-identity.ts";
import type { Host } from "../host/this-host.ts";

export type ClusterRecord = {
  /** `starting` is left behind by a failed start. */
  readonly stage: "starting" | "up";
  readonly minor: Minor;
  /** The folder of the used Kubernetes programs. */
  readonly binaries: string;
  /** The unshare process on the host, whose end ends everything, and the first process in the namespaces. */
  readonly outer: ProcessIdentity;
  readonly init: ProcessIdentity;
  readonly host: Host;
};

export function readRecord(file: string): ClusterRecord | undefined {
  try {
    const read: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isRecord(read) ? read : undefined;
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

/** Validates the record, so that no incomplete one ends a wrong process. */
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
