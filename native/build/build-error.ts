/** An error of the environment or the toolchain, such as a missing program; its message has the remedy. */
export class BuildError extends Error {}
