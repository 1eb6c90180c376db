/** Exit statuses of the demo, never renumbered. docs/reference/exit-statuses.md is generated from the comments. */

/** No request failed with lastcall, and at least one failed without it (not required with `--propagation 0s`). */
export const EXIT_OK = 0;
/** A request failed with lastcall, none failed without it, or the demo could not run. */
export const EXIT_FAILED = 1;
/** A flag or the Deployment is invalid. */
export const EXIT_USAGE = 64;
/** SIGINT or SIGTERM interrupted the demo. */
export const EXIT_INTERRUPTED = 130;
