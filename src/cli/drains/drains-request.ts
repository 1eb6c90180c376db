/** What the flags of `drains` and `timeline` ask for, as plain values. */
import type { ClusterChoice } from "../drain-ports.ts";

/** Where the drains are read from. */
export type DrainSource =
  | { readonly kind: "file"; readonly path: string }
  | {
      readonly kind: "cluster";
      readonly choice: ClusterChoice;
      /** Of lastcall itself; `undefined`: where the chart puts it, else wherever its Pods are. */
      readonly lastcallNamespace: string | undefined;
    };

export type DrainsRequest = {
  readonly source: DrainSource;
  /** Only drains of Pods in it; `undefined`: of all. */
  readonly namespace: string | undefined;
  readonly json: boolean;
};

export type DrainsListRequest = DrainsRequest & { readonly watch: boolean };

export type TimelineRequest = DrainsRequest & {
  /** A Pod's name, `namespace/name`, or the id of a drain. */
  readonly subject: string;
  readonly svgFile: string | undefined;
};
