/** The names of the suite's installation. */
export const RELEASE = "lastcall";
export const RELEASE_NAMESPACE = "lastcall-system";
