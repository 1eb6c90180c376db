/** Checks which programs are installed on the host. */
import { spawnSync } from "node:child_process";

export const hasProgram = (program: string): boolean => spawnSync("which", [program]).status === 0;
