import { renderText, type Values } from "./rendering.ts";

/** What Helm says against these values; empty when they are taken. */
export function complaint(values: Values, namespace = "lastcall"): string {
  const { status, stderr } = renderText(values, { namespace });
  return status === 0 ? "" : stderr;
}
