/** Seeds property tests with the commit's seed, in every test process. */
import fc from "fast-check";
import { inject } from "vitest";

fc.configureGlobal({ seed: inject("seed") });
