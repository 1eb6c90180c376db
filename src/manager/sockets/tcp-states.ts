/** Numbers and names of the kernel's TCP states. */

export const ESTABLISHED = 1;
export const SYN_RECV = 3;
export const FIN_WAIT1 = 4;
export const TIME_WAIT = 6;
export const CLOSE_WAIT = 8;
export const LAST_ACK = 9;
export const LISTEN = 10;
export const CLOSING = 11;

const NAMES: readonly string[] = [
  "UNKNOWN",
  "ESTABLISHED",
  "SYN_SENT",
  "SYN_RECV",
  "FIN_WAIT1",
  "FIN_WAIT2",
  "TIME_WAIT",
  "CLOSE",
  "CLOSE_WAIT",
  "LAST_ACK",
  "LISTEN",
  "CLOSING",
];

export function stateName(state: number): string {
  return NAMES[state] ?? "UNKNOWN";
}

export function isOpen(state: number): boolean {
  return (
    state === ESTABLISHED || state === CLOSE_WAIT || state === FIN_WAIT1 || state === CLOSING || state === LAST_ACK
  );
}
