/** Compares the manager's two builds in scenarios of drains; see `differential/both-builds.ts`. */
import { afterAll, describe, test } from "vitest";
import { describeIfBothBuilds } from "./builds.ts";
import { compare } from "./differential/both-builds.ts";
import { DRAINS } from "./differential/drains.ts";
import { RELAYS } from "./differential/relays.ts";
import { endRelays } from "./fake-relay.ts";
import { endManagers } from "./manager-process.ts";

afterAll(endRelays);
afterAll(endManagers);

describeIfBothBuilds("the Node build and the native build behave identically", () => {
  // The scenarios that take longest start first.
  describe("with a relay", () => {
    test.concurrent.for([...RELAYS])("when $title", (scenario) => compare(scenario));
  });
  describe("in a terminating Pod", () => {
    test.concurrent.for([...DRAINS])("when $title", (scenario) => compare(scenario));
  });
});
