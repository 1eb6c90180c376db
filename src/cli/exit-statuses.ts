/** Exit statuses of every command of this room. Documented in the README; never renumbered. */

/** Something was changed, would change, or was explained; drains were shown, if only that there are none. */
export const EXIT_DONE = 0;
/** A flag, a file or a document is wrong, or no cluster answered; standard error says which. Nothing was written to standard output. */
export const EXIT_ERROR = 1;
/** The input holds nothing to change; it was written out as it came. */
export const EXIT_NOTHING_TO_DO = 2;
