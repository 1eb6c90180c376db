/** Names of the environment variables the webhook writes and the manager or a second pass reads. */

/** Random per Pod; every call to the manager carries it as the first path segment. */
export const TOKEN_VARIABLE = "LASTCALL_TOKEN";

/**
 * Compact JSON of what injection changed, read by a second pass and by uninject. Of all of it the manager reads only
 * `chain`: by container the hook it performs after the drain and before it answers that container's hold, as
 * `{"httpGet":{"port":8080,"path":"/bye"}}` (plain HTTP on loopback; `httpHeaders` when set) or
 * `{"sleep":{"seconds":5}}`. The grace period has room for each: the seconds of a sleep, 5 s for a GET.
 */
export const ORIGINAL_VARIABLE = "LASTCALL_ORIGINAL";

export const POD_NAME_VARIABLE = "POD_NAME";
export const POD_UID_VARIABLE = "POD_UID";
export const POD_NAMESPACE_VARIABLE = "POD_NAMESPACE";

/** Name of the injected container. */
export const MANAGER_CONTAINER = "lastcall";

/** Where the binary lies in the manager's image. */
export const MANAGER_BINARY = "/lastcall";
