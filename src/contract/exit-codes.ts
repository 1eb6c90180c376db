/** Exit statuses of the manager; the reference is generated from the comments. A status never changes its meaning. */

/** The command succeeded; for `serve`: a signal stopped the manager after its drain had ended, or while no drain was needed. */
export const EXIT_OK = 0;
/** An unexpected fault of lastcall; the message states where. */
export const EXIT_FAULT = 1;
/** `serve`: a second stop signal ended the manager while preStop calls were held. */
export const EXIT_FORCED = 3;
/** `drain` and `status`: no manager answered on the port within 2 s, or it exited before answering. */
export const EXIT_UNREACHABLE = 4;
/** A flag, command or environment variable is invalid. EX_USAGE of BSD. */
export const EXIT_USAGE = 64;
