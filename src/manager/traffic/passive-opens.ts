/**
 * Detects connections that opened and closed between two samples, by the kernel's counter PassiveOpens. That counter includes
 * connections inside the Pod, which ActiveOpens counts too, so only a larger increase of PassiveOpens is evidence.
 */
import type { KubeletProbe } from "../../contract/drain-settings.ts";
import type { SocketReading } from "../sockets/reading.ts";
import { createProbeAllowance } from "./probe-allowance.ts";

type ExplainedConnections = {
  /** The manager's connections since its start: those that it opened to programs in the Pod, and those that it accepted. */
  readonly dials: number;
  readonly accepts: number;
  /** Number of connections that the relay client opened, which no program in the Pod accepts. */
  readonly relayDials: number;
  /** Connections in the backlog of the manager's port. */
  readonly managerBacklog: number;
  /** New connections that this sample contains. */
  readonly newConnections: number;
};

type PassiveOpens = {
  readonly hasMissedConnection: (reading: SocketReading, explained: ExplainedConnections, nowMs: number) => boolean;
};

export function createPassiveOpens(probes: readonly KubeletProbe[]): PassiveOpens {
  const allowance = createProbeAllowance(probes);
  let passive = -1;
  let active = -1;
  let dials = 0;
  let accepts = 0;
  let relayDials = 0;
  // The kernel may count a connection one sample later than the manager, so a connection that it has not counted yet is kept for the next sample.
  let passiveCredit = 0;
  let activeCredit = 0;

  return {
    hasMissedConnection: (reading, explained, nowMs) => {
      const areKnown = passive >= 0 && active >= 0 && reading.passiveOpens >= 0 && reading.activeOpens >= 0;
      const passiveGrowth = Math.max(0, reading.passiveOpens - passive);
      const activeGrowth = Math.max(0, reading.activeOpens - active);
      const newDials = Math.max(0, explained.dials - dials);
      const newRelayDials = Math.max(0, explained.relayDials - relayDials);
      const newAccepts = Math.max(0, explained.accepts + explained.managerBacklog - accepts);
      passive = reading.passiveOpens;
      active = reading.activeOpens;
      dials = Math.max(dials, explained.dials);
      relayDials = Math.max(relayDials, explained.relayDials);
      accepts = Math.max(accepts, explained.accepts + explained.managerBacklog);
      allowance.refill(nowMs);
      if (!areKnown) return false;

      passiveCredit = passiveCredit + newAccepts + newDials + explained.newConnections;
      activeCredit = activeCredit + newDials + newRelayDials;
      const passiveOwn = Math.min(passiveCredit, passiveGrowth);
      const activeOwn = Math.min(activeCredit, activeGrowth);
      passiveCredit = passiveCredit - passiveOwn;
      activeCredit = activeCredit - activeOwn;
      const unexplained = passiveGrowth - passiveOwn - (activeGrowth - activeOwn);
      return unexplained > 0 && unexplained > allowance.takeUpTo(unexplained);
    },
  };
}
