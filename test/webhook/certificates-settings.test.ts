/** Which settings about certificates go together, and what is told about those that do not. */
import { expect, test } from "vitest";
import { certificateProblems } from "../../src/webhook/config.ts";

const NOTHING_SET = {
  certificateFile: "",
  keyFile: "",
  caFile: "",
  caSecret: "",
  caLifeMs: 3_600_000,
  caSettleMs: 360_000,
  webhookConfiguration: "",
  certificateCheckMs: 100,
};
type Settings = typeof NOTHING_SET;

const FILES = { certificateFile: "tls.crt", keyFile: "tls.key" };
const SECRET = { caSecret: "ca" };
const CONFIGURATION = { webhookConfiguration: "lastcall" };

test.for<[string, Partial<Settings>]>([
  ["nothing, with the shortest life and interval", {}],
  ["a file for the CA of a certificate made in memory", { caFile: "ca.crt" }],
  ["a pair of files", FILES],
  ["a pair of files and who trusts it", { ...FILES, ...CONFIGURATION }],
  ["a Secret and who trusts its CA", { ...SECRET, ...CONFIGURATION }],
])("%s can be set", ([, set]) => {
  expect(certificateProblems({ ...NOTHING_SET, ...set })).toEqual([]);
});

const HALF = { where: "--cert and --key", message: "One of them is missing; give both or neither." };
const NO_CA_TO_WRITE = { where: "--ca-file", message: "Only a certificate made in memory has a CA to write." };

test.for<[string, Partial<Settings>, { where: string; message: string }]>([
  ["a certificate without its key", { certificateFile: "tls.crt" }, HALF],
  ["a key without its certificate", { keyFile: "tls.key" }, HALF],
  ["a pair of files and a file for a CA", { ...FILES, caFile: "ca.crt" }, NO_CA_TO_WRITE],
  ["a Secret and a file for a CA", { ...SECRET, ...CONFIGURATION, caFile: "ca.crt" }, NO_CA_TO_WRITE],
  [
    "files and a Secret",
    { ...FILES, ...SECRET, ...CONFIGURATION },
    {
      where: "--ca-secret",
      message: "Either the files of --cert and --key are served or what the CA of --ca-secret signs.",
    },
  ],
  [
    "a Secret that no configuration trusts",
    SECRET,
    {
      where: "--ca-secret",
      message: "It needs --webhook-configuration: no API server would trust the certificates otherwise.",
    },
  ],
  [
    "a configuration and nothing to publish in it",
    CONFIGURATION,
    {
      where: "--webhook-configuration",
      message: "It needs --ca-secret, or --cert and --key with a ca.crt beside them.",
    },
  ],
  [
    "a life too short for its rotations",
    { caLifeMs: 3_599_999 },
    { where: "--ca-life", message: "With --ca-settle 6m it is at least 1h." },
  ],
  [
    "looks without a pause",
    { certificateCheckMs: 99 },
    { where: "--certificate-check", message: "The shortest interval is 100ms." },
  ],
])("%s is told", ([, set, problem]) => {
  expect(certificateProblems({ ...NOTHING_SET, ...set })).toEqual([problem]);
});
