/** In every process of tests: properties draw their values from the commit's seed. */
import fc from "fast-check";
import { inject } from "vitest";

fc.configureGlobal({ seed: inject("seed") });
