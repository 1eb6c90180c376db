/** What a drain wants of the relay at a moment. Pure. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { floorEndMs } from "../drain/deadline.ts";
import type { DrainState } from "../drain/drain-state.ts";
import { asksForTheEnd } from "../drain/trigger-rules.ts";

export type RelayWish =
  | { readonly kind: "nothing" }
  /** Ask. From `floorEndMs` on the drain waits for the answer alone; -1 while none has begun. */
  | { readonly kind: "ask"; readonly floorEndMs: number }
  /** The answer matters no more, the report will. */
  | { readonly kind: "rest" };

const NOTHING: RelayWish = { kind: "nothing" };

export function relayWishOf(settings: DrainSettings, state: DrainState): RelayWish {
  switch (state.phase) {
    case "idle":
      // By its hooks the Pod's end looks like a restart, and the relay may know which it is.
      return asksForTheEnd(state) ? { kind: "ask", floorEndMs: -1 } : NOTHING;
    case "withdrawing":
      return { kind: "ask", floorEndMs: floorEndMs(settings, state.triggeredAtMs) };
    case "draining":
      return { kind: "rest" };
    case "holding":
      return { kind: "rest" };
    default:
      return NOTHING;
  }
}
