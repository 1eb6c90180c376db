/** Something outside this build's source is wrong: a missing program, a patch that does not apply, C that does not compile. */
export class BuildError extends Error {}
