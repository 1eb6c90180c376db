/** Names of the environment variables the webhook writes and the manager or a second pass reads. */

/** Random per Pod; every call to the manager carries it as the first path segment. */
export const TOKEN_VARIABLE = "LASTCALL_TOKEN";

/** Compact JSON of what injection changed; read by a second pass and by uninject, never by the manager. */
export const ORIGINAL_VARIABLE = "LASTCALL_ORIGINAL";

export const POD_NAME_VARIABLE = "POD_NAME";
export const POD_UID_VARIABLE = "POD_UID";
export const POD_NAMESPACE_VARIABLE = "POD_NAMESPACE";

/** Name of the injected container. */
export const MANAGER_CONTAINER = "lastcall";

/** Where the binary lies in the manager's image. */
export const MANAGER_BINARY = "/lastcall";
