/** The version all programs of this package share; a test holds it equal to package.json. */
export const VERSION = "0.1.0";
