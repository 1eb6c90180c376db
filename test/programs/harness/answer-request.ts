/** The other side of `inside-namespaces.ts`: reads the request, works, writes the result, leaves. Leaves when told to. */
import { readFileSync, writeFileSync } from "node:fs";
import { createProcessTable, type ProcessTable } from "../../../src/demo/pods/process-table.ts";
import { Fault } from "../../../src/fault.ts";

export type Workshop = {
  /** All that is started here ends with this process. */
  readonly processes: ProcessTable;
  /** A folder that is gone afterwards. */
  readonly scratch: string;
};

/** @param work gets the request as it was written; what it returns is written as JSON. */
export async function answerRequest<Request>(
  work: (request: Request, workshop: Workshop) => Promise<object>,
): Promise<never> {
  const [requestFile = "", resultFile = "", scratch = ""] = process.argv.slice(2);
  const processes = createProcessTable();
  process.on("exit", processes.killAll);
  // The leash of the program that started this.
  const leave = () => process.exit(130);
  process.stdin.once("end", leave).once("error", leave).resume();
  try {
    const request: Request = JSON.parse(readFileSync(requestFile, "utf8"));
    writeFileSync(resultFile, JSON.stringify(await work(request, { processes, scratch })));
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${error instanceof Fault ? error.message : (error as Error).stack}\n`);
    process.exit(1);
  }
}
