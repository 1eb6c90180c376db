/** Exit statuses of every command of this room. The reference is made of them; never renumbered. */

/** Something was changed, would change, or was explained; drains were shown, if only that there are none, or watching was told to stop. */
export const EXIT_DONE = 0;
/** A flag, a file or a document is wrong, or no cluster answered. Standard error says what is wrong, where, and what would be right; no manifest is printed. */
export const EXIT_ERROR = 1;
/** The input holds nothing to change; the manifests are printed as they came. */
export const EXIT_NOTHING_TO_DO = 2;
