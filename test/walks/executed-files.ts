/** Measures with V8's coverage which files of `src` are executed. */
import { type Profiler, Session } from "node:inspector";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";

const SRC = fileURLToPath(new URL("../../src/", import.meta.url));

/** @returns a function that ends the measurement and returns the files below `src` in which a function ran */
export function startCoverage(): () => readonly string[] {
  const session = new Session();
  session.connect();
  // The inspector of the same process responds before `post` returns.
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  return () => {
    let scripts: readonly Profiler.ScriptCoverage[] = [];
    session.post("Profiler.takePreciseCoverage", (error, coverage) => {
      if (error !== null) throw error;
      scripts = coverage.result;
    });
    session.disconnect();
    return scripts
      .filter(({ url, functions }) => url.startsWith("file:") && functions.some(hasRun))
      .map(({ url }) => relative(SRC, fileURLToPath(url)))
      .filter((file) => !file.startsWith(".."));
  };
}

function hasRun({ ranges }: Profiler.FunctionCoverage): boolean {
  return (ranges[0]?.count ?? 0) > 0;
}
