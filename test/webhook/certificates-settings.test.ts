/** Tests valid combinations of certificate settings, and the messages for invalid combinations. */
import { expect, test } from "vitest";
import { certificateProblems } from "../../src/webhook/config.ts";

const DEFAULTS = {
  certificateFile: "",
  keyFile: "",
  caFile: "",
  caSecret: "",
  caLifeMs: 3_600_000,
  caSettleMs: 360_000,
  webhookConfiguration: "",
  certificateCheckMs: 100,
};
type Settings = typeof DEFAULTS;

const FILES = { certificateFile: "tls.crt", keyFile: "tls.key" };
const SECRET = { caSecret: "ca" };
const CONFIGURATION = { webhookConfiguration: "lastcall" };

test.for<[string, Partial<Settings>]>([
  ["no file or Secret, with the shortest CA lifetime and check interval", {}],
  ["a file for the CA of a certificate made in memory", { caFile: "ca.crt" }],
  ["a certificate file and a key file", FILES],
  ["a certificate file, a key file and a webhook configuration", { ...FILES, ...CONFIGURATION }],
  ["a Secret and a webhook configuration", { ...SECRET, ...CONFIGURATION }],
])("a valid combination of certificate settings is accepted: %s", ([, set]) => {
  expect(certificateProblems({ ...DEFAULTS, ...set })).toEqual([]);
});

const INCOMPLETE_PAIR = {
  where: "--cert and --key",
  message: "Only one of the two flags is set. Set both or neither.",
};
const NO_CA_TO_WRITE = {
  where: "--ca-file",
  message:
    "Applies only to a certificate that the webhook generates in memory. Unset it, or unset --cert, --key and --ca-secret.",
};

test.for<[string, Partial<Settings>, { where: string; message: string }]>([
  ["a certificate without its key", { certificateFile: "tls.crt" }, INCOMPLETE_PAIR],
  ["a key without its certificate", { keyFile: "tls.key" }, INCOMPLETE_PAIR],
  ["a certificate file, a key file and a file for a CA", { ...FILES, caFile: "ca.crt" }, NO_CA_TO_WRITE],
  ["a Secret and a file for a CA", { ...SECRET, ...CONFIGURATION, caFile: "ca.crt" }, NO_CA_TO_WRITE],
  [
    "certificate files and a Secret",
    { ...FILES, ...SECRET, ...CONFIGURATION },
    {
      where: "--ca-secret",
      message: "Cannot be combined with --cert and --key. Set either the Secret or the files.",
    },
  ],
  [
    "a Secret without a webhook configuration",
    SECRET,
    {
      where: "--ca-secret",
      message: "Requires --webhook-configuration; otherwise no API server would trust the certificates.",
    },
  ],
  [
    "a webhook configuration without a CA to publish",
    CONFIGURATION,
    {
      where: "--webhook-configuration",
      message: "Requires --ca-secret, or --cert and --key with a ca.crt in the same directory.",
    },
  ],
  [
    "a CA lifetime that is too short for --ca-settle",
    { caLifeMs: 3_599_999 },
    { where: "--ca-life", message: "Is 3599999ms, too short for --ca-settle 6m. Set at least 1h." },
  ],
  [
    "a check interval below 100 ms",
    { certificateCheckMs: 99 },
    { where: "--certificate-check", message: "Is 99ms. Set at least 100ms." },
  ],
])("an invalid combination of certificate settings is reported: %s", ([, set, problem]) => {
  expect(certificateProblems({ ...DEFAULTS, ...set })).toEqual([problem]);
});
