/**
 * Escapes `$(NAME)` references, which the kubelet expands in a container's command, arguments and variables.
 *
 * @see https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/
 */

/** The kubelet expands the result to exactly `text`: `$$` is an escaped dollar sign. */
export function escapeReferences(text: string): string {
  return text.includes("$") ? text.replaceAll("$", () => "$$") : text;
}

/** Reverses {@link escapeReferences}. */
export function unescapeReferences(text: string): string {
  return text.replaceAll("$$", () => "$");
}
