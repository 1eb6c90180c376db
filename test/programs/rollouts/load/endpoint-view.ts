/** What one node knows of the Service: each change late, and a Pod chosen for each new connection, as kube-proxy does it. */
import type { Clock } from "../../../../src/demo/clock.ts";
import {
  applyChange,
  type Endpoint,
  type EndpointChange,
  usableEndpoints,
} from "../../../../src/demo/network/service-proxy.ts";

export type EndpointView = {
  readonly tell: (change: EndpointChange) => void;
  /** Everything told so far is known now. */
  readonly catchUp: () => void;
  /** The Pod for a new connection, in turn; `undefined` where none is known. */
  readonly next: () => string | undefined;
  readonly usable: () => readonly string[];
};

export function createEndpointView(clock: Clock, propagationMs: number): EndpointView {
  let inApi: readonly Endpoint[] = [];
  let known: readonly Endpoint[] = [];
  let turn = 0;
  const usable = () => usableEndpoints(known).map(({ address }) => address);
  return {
    tell: (change) => {
      inApi = applyChange(inApi, change);
      void clock.wait(propagationMs).then(() => {
        known = applyChange(known, change);
      });
    },
    catchUp: () => {
      known = inApi;
    },
    next: () => {
      const addresses = usable();
      return addresses[turn++ % Math.max(1, addresses.length)];
    },
    usable,
  };
}
