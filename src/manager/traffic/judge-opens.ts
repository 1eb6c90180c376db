/**
 * The kernel's count of accepted handshakes as a witness for connections that came and went between two looks.
 * Connections inside the Pod count in it too, so it proves something only beyond the growth of dialled ones.
 */
import type { KubeletProbe } from "../../contract/drain-settings.ts";
import type { Reading } from "../sockets/reading.ts";
import { createAllowance } from "./judge-allowance.ts";

type Explained = {
  /** Running totals of the manager itself, dials within the Pod and accepted ones. */
  readonly dials: number;
  readonly accepts: number;
  /** Of the relay's client: to the outside, so no program in the Pod accepts them. */
  readonly dialsOut: number;
  /** Connections waiting at the manager's own port: counted by the kernel, not yet by the manager. */
  readonly waiting: number;
  /** Connections from outside that this look itself found: already dated, and better than a counter can. */
  readonly arrived: number;
};

type OpensWitness = {
  /** @returns true when a connection from outside that no look has found is certain */
  readonly sawOutside: (reading: Reading, explained: Explained, nowMs: number) => boolean;
};

export function createOpensWitness(probes: readonly KubeletProbe[]): OpensWitness {
  const allowance = createAllowance(probes);
  let passive = -1;
  let active = -1;
  let dials = 0;
  let accepts = 0;
  let dialsOut = 0;
  // A connection may reach the kernel's count a look later than ours, so what is left over waits its turn.
  let passiveCredit = 0;
  let activeCredit = 0;

  return {
    sawOutside: (reading, explained, nowMs) => {
      const known = passive >= 0 && active >= 0 && reading.passiveOpens >= 0 && reading.activeOpens >= 0;
      const passiveGrowth = Math.max(0, reading.passiveOpens - passive);
      const activeGrowth = Math.max(0, reading.activeOpens - active);
      const newDials = Math.max(0, explained.dials - dials);
      const newDialsOut = Math.max(0, explained.dialsOut - dialsOut);
      const newAccepts = Math.max(0, explained.accepts + explained.waiting - accepts);
      passive = reading.passiveOpens;
      active = reading.activeOpens;
      dials = Math.max(dials, explained.dials);
      dialsOut = Math.max(dialsOut, explained.dialsOut);
      accepts = Math.max(accepts, explained.accepts + explained.waiting);
      allowance.fill(nowMs);
      if (!known) return false;

      passiveCredit = passiveCredit + newAccepts + newDials + explained.arrived;
      activeCredit = activeCredit + newDials + newDialsOut;
      const passiveOwn = Math.min(passiveCredit, passiveGrowth);
      const activeOwn = Math.min(activeCredit, activeGrowth);
      passiveCredit = passiveCredit - passiveOwn;
      activeCredit = activeCredit - activeOwn;
      const outside = passiveGrowth - passiveOwn - (activeGrowth - activeOwn);
      return outside > 0 && outside > allowance.take(outside);
    },
  };
}
