/** What a running cluster wrote about itself, so that another process can use it, and end it and nothing else. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Minor } from "../build/module-table.ts";
import { isAlive, type ProcessIdentity } from "../host/process-identity.ts";
import type { Host } from "../host/this-host.ts";

export type ClusterRecord = {
  /** `starting` was left behind by a bring-up that did not end well. */
  readonly stage: "starting" | "up";
  readonly minor: Minor;
  /** Folder with the Kubernetes programs in use. */
  readonly binaries: string;
  /** The unshare process outside, whose end ends everything, and the first process inside. */
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

/** Written by this program only; what matters is that nothing half-made is taken for a process to end. */
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
