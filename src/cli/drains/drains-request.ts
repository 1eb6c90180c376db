/** Requests of `drains` and `timeline`, read from their flags. */
import type { ClusterChoice } from "../drain-ports.ts";

export type DrainSource =
  | { readonly kind: "file"; readonly path: string }
  | {
      readonly kind: "cluster";
      readonly choice: ClusterChoice;
      /** `undefined` selects the namespace `lastcall`, or if no webhook Pod is there, the only namespace with one. */
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
