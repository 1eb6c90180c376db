/** What the suite's installation is called. */
export const RELEASE = "lastcall";
export const RELEASE_NAMESPACE = "lastcall-system";
