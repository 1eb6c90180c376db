import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { variableOf } from "../../src/settings/read-settings.ts";
import { helpText, readSettings } from "../../src/webhook/config.ts";
import { parseConfigText } from "../../src/webhook/config-file.ts";
import { SETTINGS, type WebhookSettings } from "../../src/webhook/settings.ts";

const SETTING_KEYS = Object.keys(SETTINGS) as (keyof WebhookSettings)[];

test("every setting of the webhook has a default", () => {
  const { settings, problems } = readSettings([], { PATH: "/bin" });
  expect(problems).toEqual([]);
  expect(settings).toMatchObject({ port: 8443, optIn: "label", drainDelayMs: 5_000, logLevel: "info" });
});

test("every flag can be set by an environment variable, and the flag wins", () => {
  for (const key of SETTING_KEYS) {
    const { flag, parse } = SETTINGS[key];
    const texts = [
      "1234",
      "127.0.0.1",
      "all",
      "1.30",
      "7s",
      "warn",
      "watch",
      "elsewhere",
      "true",
      "Never",
      "team=web",
    ].filter((text) => parse(text) !== undefined && parse(text) !== SETTINGS[key].fallback);
    const [first = "", second = first] = texts;
    expect(readSettings([], { [variableOf(flag)]: first }).settings[key]).toEqual(parse(first));
    const bothSettings = readSettings([`--${flag}`, second], { [variableOf(flag)]: first });
    expect(bothSettings.settings[key]).toEqual(parse(second));
  }
});

test("every invalid flag and environment variable is reported", () => {
  const args = [
    "--port",
    "99999",
    "--opt-in=some",
    "--drain-delya",
    "5s",
    "--log-level",
    "info",
    "--log-level",
    "warn",
  ];
  const { problems } = readSettings(args, { LASTCALL_DRAIN_DELAY: "5", LASTCALL_KUBE_VERSION: "new" });
  expect(problems.map((problem) => problem.where).sort()).toEqual(
    [
      '"--drain-delya"',
      '"5s"',
      "--log-level",
      "--opt-in",
      "--port",
      "LASTCALL_DRAIN_DELAY",
      "LASTCALL_KUBE_VERSION",
    ].sort(),
  );
  expect(problems.map((problem) => problem.message).join(" ")).toContain("did you mean --drain-delay?");
});

test("a flag without its value is reported, and the next flag is still read", () => {
  const { problems } = readSettings(["--image", "--port", "1"], {});
  expect(problems).toContainEqual({ where: "--image", message: "Missing value." });
});

test("an unknown environment variable with the prefix LASTCALL_ is reported", () => {
  const { problems } = readSettings([], { LASTCALL_OPTIN: "all" });
  expect(problems).toEqual([{ where: '"LASTCALL_OPTIN"', message: "Unknown variable; did you mean LASTCALL_OPT_IN?" }]);
});

test("the variables that Kubernetes sets for a Service named lastcall are ignored", () => {
  const environment = {
    LASTCALL_PORT: "tcp://10.96.0.7:443",
    LASTCALL_PORT_443_TCP: "tcp://10.96.0.7:443",
    LASTCALL_PORT_443_TCP_ADDR: "10.96.0.7",
    LASTCALL_SERVICE_HOST: "10.96.0.7",
    LASTCALL_SERVICE_PORT: "443",
  };
  const { settings, problems } = readSettings([], environment);
  expect(problems).toEqual([]);
  expect(settings.port).toBe(8443);
});

test("a certificate without a key, and a CA file together with external files, are reported", () => {
  expect(readSettings(["--cert", "a"], {}).problems).toHaveLength(1);
  expect(readSettings(["--cert=a", "--key=b", "--ca-file=c"], {}).problems).toMatchObject([{ where: "--ca-file" }]);
  expect(readSettings(["--cert=a", "--key=b"], {}).problems).toEqual([]);
});

test("certificate sources that exclude or require each other are reported", () => {
  const placesOf = (...args: string[]) => readSettings(args, {}).problems.map((problem) => problem.where);
  expect(placesOf("--ca-secret=ca")).toEqual(["--ca-secret"]);
  expect(placesOf("--webhook-configuration=w")).toEqual(["--webhook-configuration"]);
  expect(placesOf("--ca-secret=ca", "--webhook-configuration=w")).toEqual([]);
  expect(placesOf("--cert=a", "--key=b", "--webhook-configuration=w")).toEqual([]);
  expect(placesOf("--cert=a", "--key=b", "--ca-secret=ca", "--webhook-configuration=w")).toEqual(["--ca-secret"]);
  expect(placesOf("--ca-secret=ca", "--webhook-configuration=w", "--ca-file=c")).toEqual(["--ca-file"]);
  expect(placesOf("--ca-life=5m")).toEqual(["--ca-life"]);
});

test("a duration above 24 h is reported, because a longer timer of Node may fire immediately", () => {
  for (const flag of ["--drain-delay", "--certificate-check"]) {
    const { settings, problems } = readSettings([`${flag}=600h`], {});
    expect(problems).toMatchObject([{ where: flag, message: expect.stringContaining("at most 24h") }]);
    expect([settings.drainDelayMs, settings.certificateCheckMs]).toEqual([5_000, 10_000]);
    expect(readSettings([`${flag}=24h`], {}).problems).toEqual([]);
  }
  expect(readSettings(["--ca-life=17520h"], {}).problems).toEqual([]);
});

test("--kube-version=auto requires --cluster=watch", () => {
  expect(readSettings(["--kube-version=auto"], {}).problems).toMatchObject([{ where: "--kube-version" }]);
  const { settings, problems } = readSettings(["--kube-version=auto", "--cluster=watch", "--kubeconfig=k"], {});
  expect(problems).toEqual([]);
  expect(settings).toMatchObject({ kubeVersion: "auto", cluster: "watch", kubeconfigFile: "k" });
});

test("enforcement requires two different webhook configurations", () => {
  const placesOf = (...args: string[]) => readSettings(args, {}).problems.map((problem) => problem.where);
  expect(placesOf("--enforce-configuration=e", "--enforce-copies=d")).toEqual([]);
  expect(placesOf("--enforce-configuration=e")).toEqual(["--enforce-configuration and --enforce-copies"]);
  expect(placesOf("--enforce-copies=d")).toEqual(["--enforce-configuration and --enforce-copies"]);
  expect(placesOf("--enforce-configuration=e", "--enforce-copies=e")).toEqual(["--enforce-configuration"]);
});

test("the relay requires a Secret, a cluster and its own ports", () => {
  const placesOf = (...args: string[]) => readSettings(args, {}).problems.map((problem) => problem.where);
  const relay = ["--relay-secret=relay", "--cluster=watch"];
  expect(placesOf(...relay, "--relay-address=10.0.0.1:443", "--relay-read-pods=true", "--admin-port=8081")).toEqual([]);
  expect(placesOf("--relay-secret=relay")).toEqual(["--relay-secret"]);
  expect(placesOf("--relay-address=10.0.0.1:443")).toEqual(["--relay-address"]);
  expect(placesOf("--relay-read-pods=true")).toEqual(["--relay-read-pods"]);
  expect(placesOf("--relay-read-pods=yes")).toEqual(["--relay-read-pods"]);
  expect(placesOf("--admin-port=8081")).toEqual(["--admin-port"]);
  expect(placesOf(...relay, "--admin-listen=all")).toEqual([]);
  expect(placesOf(...relay, "--admin-listen=10.0.0.1")).toEqual(["--admin-listen"]);
  expect(placesOf(...relay, "--admin-port=8443")).toEqual(["--admin-port"]);
  expect(placesOf(...relay, "--admin-port=8444")).toEqual(["--admin-port"]);
  expect(placesOf(...relay, "--relay-port=8443")).toEqual(["--relay-port"]);
  expect(placesOf(...relay, "--relay-port=9000", "--admin-port=9000", "--port=9000")).toEqual([
    "--relay-port",
    "--admin-port",
  ]);
  expect(placesOf(...relay, "--relay-port=0", "--admin-port=0", "--port=0")).toEqual([]);
  // Without the relay, nothing listens on the relay's default port 8444.
  expect(placesOf("--port=8444")).toEqual([]);
  expect(placesOf(...relay, "--ca-secret=relay", "--webhook-configuration=w")).toEqual(["--relay-secret"]);
});

test("a relay address that is empty or has an unexpanded variable is not reported as an invalid setting", () => {
  const unexpandedAddress = "[$(LASTCALL_WEBHOOK_SERVICE_HOST)]:$(LASTCALL_WEBHOOK_SERVICE_PORT)";
  for (const address of [unexpandedAddress, ""]) {
    const { settings, problems } = readSettings(
      ["--relay-secret=r", "--cluster=watch", "--relay-address", address],
      {},
    );
    expect(problems).toEqual([]);
    expect(settings.relayAddress).toBe(address);
  }
});

test("the settings reference in docs contains every flag", () => {
  const page = readFileSync(new URL("../../docs/reference/flags.md", import.meta.url), "utf8");
  const section = page.slice(page.indexOf("## lastcall webhook"), page.indexOf("## The command line"));
  const missingFlags = SETTING_KEYS.map((key) => `--${SETTINGS[key].flag}`).filter(
    (flag) => !section.includes(`| \`${flag}\` |`),
  );
  expect(missingFlags).toEqual([]);
});

test("the help text contains every flag", () => {
  for (const key of SETTING_KEYS) expect(helpText()).toContain(`--${SETTINGS[key].flag} `);
  expect(readSettings(["--help"], {}).help).toBe(true);
});

describe("the configuration file", () => {
  test("is read from YAML", () => {
    const { config, problems } = parseConfigText("defaults: {drain-timeout: 90s}\nonInvalid: deny\n", "c.yaml");
    expect(problems).toEqual([]);
    expect(config).toMatchObject({ defaults: { "drain-timeout": "90s" }, onInvalid: "deny" });
  });

  test("is reported with its path and every invalid value", () => {
    const { problems } = parseConfigText("defaults: {drain-timeout: 90}\nonInvalid: maybe\nprofile: {}\n", "c.yaml");
    expect(problems).toHaveLength(3);
    for (const problem of problems) expect(problem.where).toMatch(/^c\.yaml, /);
  });

  test("is reported with the line if it is not YAML", () => {
    const { problems } = parseConfigText("defaults:\n  a: [1\n", "c.yaml");
    expect(problems[0]?.where).toMatch(/^c\.yaml, line [23]$/);
  });

  test("is reported, without a crash, if its YAML aliases expand exponentially", () => {
    const yamlLines = ["a: &a [x,x,x,x,x,x,x,x,x]"];
    for (let level = 1; level < 9; level += 1) {
      const [name, last] = [String.fromCharCode(97 + level), String.fromCharCode(96 + level)];
      yamlLines.push(`${name}: &${name} [${Array(9).fill(`*${last}`).join(",")}]`);
    }
    const { problems } = parseConfigText(yamlLines.join("\n"), "c.yaml");
    expect(problems).toEqual([
      {
        where: "c.yaml",
        message: expect.stringMatching(/^The aliases \(\*name\) cannot be expanded: "Excessive alias count/),
      },
    ]);
  });

  test("is reported with the line and name of an alias whose anchor is not defined", () => {
    expect(parseConfigText("onInvalid: deny\ndefaults: *base\n", "c.yaml").problems).toEqual([
      {
        where: "c.yaml, line 2",
        message: 'The alias "*base" refers to an anchor that is not defined before it. Define the anchor first.',
      },
    ]);
  });

  test("does not change a setting if it is empty", () => {
    expect(parseConfigText("", "c.yaml").problems).toEqual([]);
  });
});
