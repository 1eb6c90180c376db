/** Tells an app over HTTP that it drains, and asks how many requests it still works on. */
import type { DrainSettings } from "../../contract/drain-settings.ts";

/** A `Driver` that also says how often it dialled, so that its own connections are not taken for traffic. */
export type HttpDriver = {
  readonly name: string;
  readonly tellDraining: (done: (failure: string) => void) => void;
  readonly countActive: (done: (active: number) => void) => void;
  /** Connections opened since the start; a running total. */
  readonly dials: () => number;
};

export function createHttpDriver(_settings: DrainSettings): HttpDriver {
  return {
    name: "http",
    tellDraining: (done) => done(""),
    countActive: (done) => done(-1),
    dials: () => 0,
  };
}
