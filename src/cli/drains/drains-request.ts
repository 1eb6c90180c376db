/** Requests of `drains` and `timeline`, read from their flags. */
import type { ClusterSource } from "../cluster-flags.ts";

export type DrainSource =
  | { readonly kind: "file"; readonly path: string }
  | ({ readonly kind: "cluster" } & ClusterSource);

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
