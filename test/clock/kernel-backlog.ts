/** Counts packets that the kernel still has to deliver between programs of this host; a busy host delivers them late. */
import { readFileSync } from "node:fs";

/** Index of the backlog's length in a processor's line; kernels before Linux 5.10 omit the number. */
const BACKLOG_COLUMN = 11;

/** @returns the number of sent packets that are not delivered yet; 0 if the kernel does not report it */
export function countUndeliveredPackets(table = readFileSync("/proc/net/softnet_stat", "utf8")): number {
  const lines = table.trim().split("\n");
  return lines.reduce((sum, line) => sum + Number.parseInt(line.split(" ")[BACKLOG_COLUMN] ?? "0", 16), 0);
}
