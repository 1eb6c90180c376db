/** The order of files in a clone that has not run yet. Later runs know how long each took; without that, size would decide. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Small files that play long stories, the longest first: begun last, they would be waited for alone. */
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
