/** Settings for a fast start of Node in the tests (see vitest.config.ts), for programs with an empty environment. */
export function nodeSettings(): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const name of ["NODE_COMPILE_CACHE", "NODE_OPTIONS"]) {
    const value = process.env[name];
    if (value !== undefined) settings[name] = value;
  }
  return settings;
}
