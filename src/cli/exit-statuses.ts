/** Exit statuses of every command of this room. The reference is made of them; never renumbered. */

/** It was done: manifests were printed, changed or as they came; they were explained, or drains were shown, if only that there are none. `diff`: nothing would change. `lint`: it found nothing. */
export const EXIT_DONE = 0;
/** `diff`: something would change. */
export const EXIT_DIFFERENT = 1;
/** `lint`: it found something, of any level. */
export const EXIT_FINDINGS = 1;
/** Every other command: a flag, a file or a document is wrong, or no cluster answered. Standard error says what is wrong, where, and what would be right; no manifest is printed. */
export const EXIT_ERROR = 1;
/** `diff` and `lint`: a flag, a file or a document is wrong. */
export const EXIT_ANSWERING_ERROR = 2;

/** Commands whose 1 is an answer. */
const ANSWERING: readonly string[] = ["diff", "lint"];

/** As `kubectl diff` does, so that a pipeline can tell a difference from a mistake. @param args of the command line */
export function errorStatusOf(args: readonly string[]): number {
  return ANSWERING.includes(args.find((arg) => !arg.startsWith("-")) ?? "") ? EXIT_ANSWERING_ERROR : EXIT_ERROR;
}
