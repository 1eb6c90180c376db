/**
 * Detects connections that opened and closed between two samples, by the kernel's counter PassiveOpens. That counter includes
 * connections inside the Pod, which ActiveOpens counts too, so PassiveOpens is evidence only if it grows by more than ActiveOpens.
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
  let passiveOpens = -1;
  let activeOpens = -1;
  let dials = 0;
  let accepts = 0;
  let relayDials = 0;
  // The kernel may count a connection one sample later than the manager, so a connection that the kernel has not counted yet is carried
  // over to the next sample.
  let passiveCredit = 0;
  let activeCredit = 0;

  return {
    hasMissedConnection: (reading, explained, nowMs) => {
      const areKnown = passiveOpens >= 0 && activeOpens >= 0 && reading.passiveOpens >= 0 && reading.activeOpens >= 0;
      const passiveGrowth = Math.max(0, reading.passiveOpens - passiveOpens);
      const activeGrowth = Math.max(0, reading.activeOpens - activeOpens);
      const newDials = Math.max(0, explained.dials - dials);
      const newRelayDials = Math.max(0, explained.relayDials - relayDials);
      const newAccepts = Math.max(0, explained.accepts + explained.managerBacklog - accepts);
      passiveOpens = reading.passiveOpens;
      activeOpens = reading.activeOpens;
      dials = Math.max(dials, explained.dials);
      relayDials = Math.max(relayDials, explained.relayDials);
      accepts = Math.max(accepts, explained.accepts + explained.managerBacklog);
      allowance.refill(nowMs);
      if (!areKnown) return false;

      passiveCredit = passiveCredit + newAccepts + newDials + explained.newConnections;
      activeCredit = activeCredit + newDials + newRelayDials;
      const creditedPassiveOpens = Math.min(passiveCredit, passiveGrowth);
      const creditedActiveOpens = Math.min(activeCredit, activeGrowth);
      passiveCredit = passiveCredit - creditedPassiveOpens;
      activeCredit = activeCredit - creditedActiveOpens;
      const unexplained = passiveGrowth - creditedPassiveOpens - (activeGrowth - creditedActiveOpens);
      return unexplained > 0 && unexplained > allowance.takeUpTo(unexplained);
    },
  };
}
