/** Exit statuses of the manager binary. The reference is made of them; never renumbered. */

/** The command did what it says; for `serve`: stopped by a signal after a finished or unneeded drain. */
export const EXIT_OK = 0;
/** An unexpected fault of ours; the message says where. */
export const EXIT_FAULT = 1;
/** `serve`: told to stop while holds were open; they were cut. */
export const EXIT_FORCED = 3;
/** `drain` and `status`: no manager answered on the port within 2 s, or it left before answering. */
export const EXIT_UNREACHABLE = 4;
/** A flag, command or environment variable is wrong. The number is BSD's EX_USAGE. */
export const EXIT_USAGE = 64;
