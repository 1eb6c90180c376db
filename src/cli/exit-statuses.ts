/** Defines the exit statuses of the commands. The reference page is generated from the comments; never renumber them. */

/** Success, also with nothing to do: the manifests, explanations or drains were printed. `diff`: no differences. `lint`: no findings. `verify`: every terminated Pod reported that it did not cut a connection. */
export const EXIT_DONE = 0;
/** `diff`: injection would change the manifests. */
export const EXIT_DIFFERENT = 1;
/** `lint`: findings of any level. `verify`: a Pod may have cut a connection, or did not report. */
export const EXIT_FINDINGS = 1;
/** Every other command: a flag, file or document is invalid, or no cluster responded. Standard error has place, value and remedy; no manifest is printed. */
export const EXIT_ERROR = 1;
/** `diff`, `lint` and `verify`: a flag, file or document is invalid. `verify`: the rollout did not complete in time, or the rollout or its reports could not be read. */
export const EXIT_CHECK_ERROR = 2;

/** Commands whose status 1 is a result, not an error. */
const CHECK_COMMANDS: readonly string[] = ["diff", "lint", "verify"];

/** As in `kubectl diff`, so that a pipeline can distinguish differences from errors. @param args of the command line */
export function errorStatusOf(args: readonly string[]): number {
  return CHECK_COMMANDS.includes(args.find((arg) => !arg.startsWith("-")) ?? "") ? EXIT_CHECK_ERROR : EXIT_ERROR;
}
