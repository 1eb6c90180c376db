/** Exit statuses of the demo. The reference is made of them; never renumbered. */

/** No request failed with lastcall, and some did without it (unless the propagation is 0s). */
export const EXIT_OK = 0;
/** A request failed with lastcall, none failed without it, or the demo itself failed. */
export const EXIT_FAILED = 1;
/** A flag or the Deployment is wrong. */
export const EXIT_USAGE = 64;
/** The demo was interrupted. */
export const EXIT_INTERRUPTED = 130;
