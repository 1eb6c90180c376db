/** Compares the manager's two builds in scenarios with drivers, signals and commands; see `differential/both-builds.ts`. */
import { afterAll, describe, test } from "vitest";
import { describeIfBothBuilds } from "./builds.ts";
import { compare } from "./differential/both-builds.ts";
import { COMMANDS, OTHER_SERVER_SCENARIOS } from "./differential/commands.ts";
import { DRIVERS } from "./differential/drivers.ts";
import { SIGNALS } from "./differential/signals.ts";
import { endManagers } from "./manager-process.ts";

afterAll(endManagers);

describeIfBothBuilds("the Node build and the native build behave identically", () => {
  describe("with a driver or an original hook", () => {
    test.concurrent.for([...DRIVERS])("with $title", (scenario) => compare(scenario));
  });
  describe("at SIGTERM", () => {
    test.concurrent.for([...SIGNALS])("when $title", (scenario) => compare(scenario));
  });
  describe("on the command line", () => {
    test.concurrent.for([...COMMANDS])("when $title", (scenario) => compare(scenario));
    test.concurrent.for([...OTHER_SERVER_SCENARIOS])("when $title", (scenario) => compare(scenario));
  });
});
