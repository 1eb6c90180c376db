/** Requests of `drains` and `timeline`, read from their flags. */
import type { ClusterChoice } from "../drain-ports.ts";

export type DrainSource =
  | { readonly kind: "file"; readonly path: string }
  | {
      readonly kind: "cluster";
      readonly choice: ClusterChoice;
      /** `undefined`: `lastcall`, otherwise the namespace of the webhook's Pods. */
      readonly lastcallNamespace: string | undefined;
    };

export type DrainsRequest = {
  readonly source: DrainSource;
  readonly namespace: string | undefined;
  readonly json: boolean;
};

export type DrainsListRequest = DrainsRequest & { readonly watch: boolean };

export type TimelineRequest = DrainsRequest & {
  readonly subject: string;
  readonly svgFile: string | undefined;
};
