/** What helm says on its standard error that someone should hear. */

/**
 * Without the lines that helm's client of the API server logs as information, whose letter is I: it writes one when a watch
 * of its own is broken off at its end.
 */
export function complaintsIn(stderr: string): string {
  return stderr.replaceAll(/^I[0-9]{4} [0-9:.]+ +[0-9]+ \S+\.go:[0-9]+\] .*\n/gm, "");
}
