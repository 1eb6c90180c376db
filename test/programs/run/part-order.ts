/** Sorts the test files of `npm run test:programs`: programs are installed before the first measurement. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

const FOLDERS_IN_ORDER = ["install", "servers", "rollouts", "protocols", "rabbitmq", "envoy"];

export function sortByPart(files: readonly string[]): readonly string[] {
  const partIndex = (file: string) => {
    const index = FOLDERS_IN_ORDER.indexOf(/\/test\/programs\/([^/]+)\//.exec(file)?.[1] ?? "");
    return index < 0 ? FOLDERS_IN_ORDER.length : index;
  };
  return files.toSorted((first, second) => partIndex(first) - partIndex(second) || first.localeCompare(second));
}

export class PartOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = sortByPart(files.map(({ moduleId }) => moduleId));
    return files.toSorted((first, second) => order.indexOf(first.moduleId) - order.indexOf(second.moduleId));
  }
}
