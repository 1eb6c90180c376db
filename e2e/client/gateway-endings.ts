/** Lists the ways in which a gateway's Pods end, and the settings of their Pod templates. */

/** `own`: the gateway's own shutdown manager; `both`: its manager with lastcall's beside it; `neither`: no preStop hooks. */
export const ENDINGS = ["own", "lastcall", "both", "neither"] as const;
export type Ending = (typeof ENDINGS)[number];

export function hasLastcall(ending: Ending): boolean {
  return ending === "lastcall" || ending === "both";
}

type Texts = Readonly<Record<string, string>>;

/** Returns labels and annotations that are added to those of the guide. */
export function podSettingsOf(ending: Ending): { readonly labels: Texts; readonly annotations: Texts } {
  return {
    labels: hasLastcall(ending) ? {} : { "lastcall.dev/inject": "disabled" },
    annotations: ending === "both" ? { "lastcall.dev/prestop": "keep", "lastcall.dev/driver": "envoy" } : {},
  };
}
