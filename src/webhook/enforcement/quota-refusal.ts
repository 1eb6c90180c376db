/** Recognizes an API server's refusal of a Pod by a ResourceQuota. Pure. */
import type { ApiAnswer } from "../../api-server/api-request.ts";

/** The admission plugin ResourceQuota has no error code of its own: its refusals are 403 Forbidden with one of these messages. */
const QUOTA = /\b(?:exceeded|failed) quota: |\binsufficient quota to (?:match|consume)/;

export function isQuotaRefusal({ status, text }: ApiAnswer): boolean {
  return status === 403 && QUOTA.test(text);
}
