/** Builds the JSON schema of the cluster configuration, which the chart's values schema embeds. */
import { ANNOTATIONS, FIELDS, fallbackText } from "../policy/fields.ts";

export function configSchema(): object {
  const settableFields = FIELDS.map((field) => ({ field, row: ANNOTATIONS[field] })).filter(({ row }) =>
    row.scopes.includes("cluster"),
  );
  const properties = Object.fromEntries(
    settableFields.map(({ field, row }) => [
      row.name,
      { ...row.codec.schema, description: `${row.summary} Default: ${fallbackText(field)}.` },
    ]),
  );
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "lastcall configuration",
    type: "object",
    additionalProperties: false,
    properties: {
      defaults: { $ref: "#/$defs/policy" },
      profiles: { type: "object", additionalProperties: { $ref: "#/$defs/policy" } },
      onInvalid: { type: "string", enum: ["warn", "skip", "deny"] },
    },
    $defs: { policy: { type: "object", additionalProperties: false, properties } },
  };
}
