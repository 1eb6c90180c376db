/** Refuses commit subjects that do not name the change, such as "Let the manager …". */
import { execFileSync } from "node:child_process";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
/** Until the first tag exists, only commits after this one are checked: history is never rewritten, so older ones stay. */
const FIRST_CHECKED = "32ecc8feb9d5f0266550b128a9ab8c7715ff8bb4";
const REFUSED = /^(?:Let|Say|Hold|Tell|Take|Give|Keep)\b/;
const LONGEST = 72;

export const subjectProblem = (subject: string): string | undefined => {
  if (REFUSED.test(subject)) return "name the change: Add, Fix, Rename, Cut, Move, Measure, …";
  return subject.length > LONGEST ? `at most ${LONGEST} characters, has ${subject.length}` : undefined;
};

const git = (...args: readonly string[]): string =>
  execFileSync("git", [...args], { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** A shallow clone or an unpacked archive lacks the commit. */
function hasCommit(name: string): boolean {
  try {
    return git("cat-file", "-t", name).startsWith("commit");
  } catch {
    return false;
  }
}

function subjectsSinceLastTag(): readonly string[] {
  const tag = git("tag", "--merged", "HEAD", "--sort=-creatordate").split("\n")[0] ?? "";
  return git("log", "--no-merges", "--format=%h %s", `${tag === "" ? FIRST_CHECKED : tag}..HEAD`)
    .split("\n")
    .filter((line) => line !== "");
}

if (import.meta.main && !hasCommit(FIRST_CHECKED))
  process.stdout.write("commit subjects are not checked: this copy has no complete history\n");
else if (import.meta.main) {
  const bad = subjectsSinceLastTag().flatMap((line) => {
    const [hash = "", ...words] = line.split(" ");
    const why = subjectProblem(words.join(" "));
    return why === undefined ? [] : [`${hash} "${words.join(" ")}": ${why}`];
  });
  for (const line of bad) process.stderr.write(`commit subject ${line}\n`);
  process.exitCode = bad.length > 0 ? 1 : 0;
}
