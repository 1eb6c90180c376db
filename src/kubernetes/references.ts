/**
 * `$(NAME)` in a container's command, arguments and variables, which kubelet replaces by the variable's value.
 *
 * @see https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/
 */

/** Text of which kubelet makes exactly `text`, whatever it says: two dollar signs are its word for one. */
export function withoutReferences(text: string): string {
  return text.includes("$") ? text.replaceAll("$", () => "$$") : text;
}

/** What kubelet makes of {@link withoutReferences}; a reference that is really one stays as it is written. */
export function asWritten(text: string): string {
  return text.replaceAll("$$", () => "$");
}
