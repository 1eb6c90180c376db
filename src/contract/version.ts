/** The version of all programs; a test compares it with package.json. */
export const VERSION = "0.1.0";
