/** What the kernel still has to deliver between two programs of this host: a busy one puts it off. */
import { readFileSync } from "node:fs";

/** The 12th number of a processor's line; kernels before 5.10 do not tell it. */
const BACKLOG_COLUMN = 11;

/** @returns packets that are sent and not delivered; 0 where the kernel does not tell */
export function undelivered(table = readFileSync("/proc/net/softnet_stat", "utf8")): number {
  const lines = table.trim().split("\n");
  return lines.reduce((sum, line) => sum + Number.parseInt(line.split(" ")[BACKLOG_COLUMN] ?? "0", 16), 0);
}
