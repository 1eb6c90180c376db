/** Both builds, side by side, in what they tell others and are told; `differential/both-builds.ts` says how. */
import { afterAll, describe, test } from "vitest";
import { describeBoth } from "./builds.ts";
import { compare } from "./differential/both-builds.ts";
import { COMMANDS, IMPOSTURES } from "./differential/commands.ts";
import { DRIVERS } from "./differential/drivers.ts";
import { SIGNALS } from "./differential/signals.ts";
import { endManagers } from "./manager-process.ts";

afterAll(endManagers);

describeBoth("both builds do the same", () => {
  describe("with an app that is spoken to", () => {
    test.concurrent.for([...DRIVERS])("when there is $says", (scenario) => compare(scenario));
  });
  describe("told to stop", () => {
    test.concurrent.for([...SIGNALS])("when $says", (scenario) => compare(scenario));
  });
  describe("on the command line", () => {
    test.concurrent.for([...COMMANDS])("when $says", (scenario) => compare(scenario));
    test.concurrent.for([...IMPOSTURES])("when $says", (scenario) => compare(scenario));
  });
});
