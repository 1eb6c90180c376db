/** Parses commands of exec hooks that sleep and send the main program a stop signal. Pure. */

/** A hook whose effects are known. */
export type HookScript = {
  /** Sum of the sleeps before the first signal, rounded up. */
  readonly sleepSeconds: number;
  /** Such as `SIGQUIT`; empty if the hook only sleeps. */
  readonly signals: readonly string[];
};

type Step =
  | { readonly kind: "sleep"; readonly seconds: number }
  | { readonly kind: "signal"; readonly signal: string; readonly sleepSeconds: number }
  | { readonly kind: "nothing" };

const SHELLS: readonly string[] = ["sh", "bash", "ash", "dash"];

/** Bounds the work per hook: some of the patterns below take quadratic time. */
const COMMAND_LIMIT_CHARACTERS = 1_000;

/** @returns `undefined` if any part of the command has an unknown effect, or an effect other than a sleep or a signal */
export function parseHookCommand(command: readonly string[]): HookScript | undefined {
  if (command.reduce((sum, word) => sum + word.length + 1, 0) > COMMAND_LIMIT_CHARACTERS) return undefined;
  const [program = "", flag = "", script = "", ...rest] = command;
  const isShell = SHELLS.includes(baseName(program)) && /^-e?c$/.test(flag) && rest.length === 0;
  const steps = isShell ? stepsOfScript(script) : [stepOf(command)];
  return steps === undefined || steps.includes(undefined)
    ? undefined
    : combineSteps(steps.filter((step) => step !== undefined));
}

function combineSteps(steps: readonly Step[]): HookScript | undefined {
  if (steps.every(({ kind }) => kind === "nothing")) return undefined;
  const signals: string[] = [];
  let sleepSeconds = 0;
  for (const step of steps) {
    if (signals.length === 0 && step.kind === "sleep") sleepSeconds += step.seconds;
    if (step.kind !== "signal") continue;
    if (signals.length === 0) sleepSeconds += step.sleepSeconds;
    signals.push(step.signal);
  }
  return { sleepSeconds: Math.ceil(sleepSeconds), signals };
}

/** Loops that wait for the end of the program, such as `while pgrep -x nginx; do sleep 1; done`, end with the program. */
const WAIT_LOOP = /while\s+(?:pgrep|pidof|killall\s+-0)(?:\s+[\w./-]+)+\s*;\s*do\s+sleep\s+[0-9.]+\s*;?\s*done/g;
const DISCARDED_OUTPUT = /\s*(?:[12&]?>\s*\/dev\/null|2>&1)(?![\w./-])/g;
/** Expansions, quotes, pipes, background jobs, redirections and comments are not interpreted. */
const UNSUPPORTED = /[$`'"\\<>(){}[\]*?#~]|(?<!\|)\|(?!\|)|(?<!&)&(?!&)/;

function stepsOfScript(script: string): readonly (Step | undefined)[] | undefined {
  const text = script.replace(WAIT_LOOP, "true").replace(DISCARDED_OUTPUT, "");
  if (UNSUPPORTED.test(text)) return undefined;
  const steps: (Step | undefined)[] = [];
  let operator = ";";
  for (const part of text.split(/(;|&&|\|\||\n)/)) {
    const isOperator = /^(?:;|&&|\|\||\n)$/.test(part);
    if (isOperator) operator = part;
    if (isOperator || part.trim() === "") continue;
    const step = stepOf(part.trim().split(/\s+/));
    // After `||` a command runs only if the previous command failed.
    steps.push(operator === "||" && step?.kind !== "nothing" ? undefined : step);
  }
  return steps;
}

const NOTHING: Step = { kind: "nothing" };

function stepOf(command: readonly string[]): Step | undefined {
  const [first = "", ...others] = command;
  const [program = "", ...args] = first === "exec" ? others : command;
  const text = args.join(" ");
  switch (baseName(program)) {
    case "sleep": {
      const seconds = args.length === 1 ? secondsOf(text) : undefined;
      return seconds === undefined ? undefined : { kind: "sleep", seconds };
    }
    case "true":
    case ":":
    case "echo":
      return NOTHING;
    case "exit":
      return /^0?$/.test(text) ? NOTHING : undefined;
    case "set":
      return /^-[eux]+$/.test(text) ? NOTHING : undefined;
    case "nginx":
    case "openresty":
      return text === "-s quit" ? signalStep("SIGQUIT") : undefined;
    case "kong":
      return kongStep(args);
    case "httpd":
    case "apachectl":
    case "apache2ctl":
      return /^(?:-k )?graceful-stop$/.test(text) ? signalStep("SIGWINCH") : undefined;
    case "kill":
      return killStep(text);
    default:
      return undefined;
  }
}

function signalStep(name: string, sleepSeconds = 0): Step {
  return { kind: "signal", signal: name, sleepSeconds };
}

/** `kong quit` sends SIGQUIT after the time of `--wait`; `--timeout` only limits how long the command waits for Kong to exit. */
function kongStep([subcommand, ...flags]: readonly string[]): Step | undefined {
  if (subcommand !== "quit") return undefined;
  const match = /^(?:(?:-w|--wait)[= ]([0-9]{1,6})|(?:-t|--timeout)[= ][0-9]{1,6}| )*$/.exec(flags.join(" "));
  return match === null ? undefined : signalStep("SIGQUIT", Number(match[1] ?? 0));
}

const SIGNAL_NUMBERS: Readonly<Record<string, string>> = { 3: "QUIT", 10: "USR1", 12: "USR2", 15: "TERM", 28: "WINCH" };

/** Parses signals to process 1 only, because the container's stop signal also goes to process 1. */
function killStep(text: string): Step | undefined {
  const match = /^(?:(?:-s\s+|-)(?:SIG)?([A-Z]+[12]?|[0-9]+)\s+)?1$/.exec(text);
  if (match === null) return undefined;
  const name = match[1] ?? "TERM";
  return signalStep(`SIG${SIGNAL_NUMBERS[name] ?? name}`);
}

/** Returns the program's name; empty for a program in an unusual folder, which may be another program with the same name. */
function baseName(program: string): string {
  return /^(?:\/(?:usr\/)?(?:local\/)?(?:openresty\/)?s?bin\/)?([a-z0-9]+|:)$/.exec(program)?.[1] ?? "";
}

/** `sleep` of GNU and busybox accepts a fraction and a unit. */
function secondsOf(text: string): number | undefined {
  const match = /^([0-9]{1,9}(?:\.[0-9]{1,9})?)([smh]?)$/.exec(text);
  if (match === null) return undefined;
  const unit = match[2] === "h" ? 3_600 : match[2] === "m" ? 60 : 1;
  return Number(match[1]) * unit;
}
