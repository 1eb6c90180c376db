/** Variables for a fast start of Node (see vitest.config.ts), for programs that tests start with their own environment. */
export function nodeSettings(): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const name of ["NODE_COMPILE_CACHE", "NODE_OPTIONS"]) {
    const value = process.env[name];
    if (value !== undefined) settings[name] = value;
  }
  return settings;
}
