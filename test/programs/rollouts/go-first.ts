/**
 * Processes of a run go before what else the machine does, where the rights allow it: a client that gets no processor is
 * silent, a silent client is one whose drain may end, and a manager that gets none is late.
 */
import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import type { ProcessTable } from "../../../src/demo/pods/process-table.ts";

const FIRST = -10;

/** How long clients stood still is part of the result, whether this worked or not. */
export function goFirst(pid: number): void {
  try {
    setPriority(pid, FIRST);
    // Linux shares out processors by session where it is set to, and then only this counts.
    writeFileSync(`/proc/${pid}/autogroup`, String(FIRST));
  } catch {
    // No rights, no such setting, or the process has ended: then it runs as everyone does.
  }
}

export function goingFirst(processes: ProcessTable): ProcessTable {
  return {
    ...processes,
    start: (request) => {
      const started = processes.start(request);
      if (started.pid !== 0) goFirst(started.pid);
      return started;
    },
  };
}
