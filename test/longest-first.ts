/** Orders the test files of a first run. Later runs use recorded durations; without durations vitest orders files by size. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Small files with long scenarios, the longest first. Ordered by size they would start last, and run alone at the end. */
const LONGEST = [
  "test/manager/manager-crashes.test.ts",
  "test/relay/relay-in-webhook.test.ts",
  "test/webhook/cluster/webhook-in-cluster.test.ts",
  "test/relay/slices/slice-watches.test.ts",
  "test/api-server/reflector.test.ts",
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return at < 0 ? LONGEST.length : at;
    };
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}
