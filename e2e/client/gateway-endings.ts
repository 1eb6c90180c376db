/** Lists the ways in which a gateway's Pods end, and the settings of their Pod templates. */

/** `own`: the gateway's own shutdown manager; `lastcall`: lastcall's manager; `both`: both managers; `neither`: no preStop hooks. */
export const ENDINGS = ["own", "lastcall", "both", "neither"] as const;
export type Ending = (typeof ENDINGS)[number];

export function hasLastcall(ending: Ending): boolean {
  return ending === "lastcall" || ending === "both";
}

type Texts = Readonly<Record<string, string>>;

/** Returns metadata to merge into the guide's Pod template. Omits empty annotations, which would be applied as null. */
export function podSettingsOf(ending: Ending): { readonly labels: Texts; readonly annotations?: Texts } {
  const labels: Texts = hasLastcall(ending) ? {} : { "lastcall.dev/inject": "disabled" };
  if (ending !== "both") return { labels };
  return { labels, annotations: { "lastcall.dev/prestop": "keep", "lastcall.dev/driver": "envoy" } };
}
