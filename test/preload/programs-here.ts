/** What the host can try the library with. */
import { spawnSync } from "node:child_process";

export const hasProgram = (program: string): boolean => spawnSync("which", [program]).status === 0;
