/** The message of an API server that refuses a Pod of the self-test, for a sentence. Pure. */
import { type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { quoteUpTo } from "../../policy/quote.ts";

/** The generated name differs in every attempt, so the same refusal would be reported again each time. */
const FORBIDDEN_POD = /^pods "[^"]*" is forbidden: /;

/** In characters. A quota's message repeats its amounts three times: the usual four resources fit. */
const MESSAGE_LIMIT = 300;

export function refusalMessage(status: RawObject | undefined): string {
  return quoteUpTo(MESSAGE_LIMIT, (textAt(status, "message") ?? "").replace(FORBIDDEN_POD, ""));
}
