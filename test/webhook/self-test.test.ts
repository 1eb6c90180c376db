import { describe, expect, test } from "vitest";
import type { ApiAnswer, ApiQuestion } from "../../src/api-server/api-request.ts";
import { readOptions } from "../../src/webhook/self-test/options.ts";
import { selfTest } from "../../src/webhook/self-test/self-test.ts";

type Answer = (wish: string, asked: number) => ApiAnswer;

/** Runs against answers; time passes only by sleeping. */
async function run(answer: Answer, waitMs = 3_000) {
  const questions: ApiQuestion[] = [];
  const said: string[] = [];
  let nowMs = 0;
  const works = await selfTest(
    { namespace: "shop", waitMs },
    {
      ask: async (question) => {
        questions.push(question);
        const pod = JSON.parse(question.body ?? "") as { metadata: { labels: Record<string, string> } };
        return answer(pod.metadata.labels["lastcall.dev/inject"] ?? "", questions.length);
      },
      sleep: async (ms) => {
        nowMs += ms;
      },
      nowMs: () => nowMs,
      say: (sentence) => void said.push(sentence),
    },
  );
  return { works, said, questions, nowMs };
}

const pod = (injected: boolean): ApiAnswer => ({
  status: 201,
  text: JSON.stringify({ metadata: injected ? { annotations: { "lastcall.dev/status": "{}" } } : {} }),
});

const refusal = (message: string): ApiAnswer => ({ status: 403, text: JSON.stringify({ message }) });

describe("the self-test", () => {
  test("passes when only the Pod that opted in comes back injected", async () => {
    expect(await run((wish) => pod(wish === "enabled"))).toMatchObject({ works: true, said: [], nowMs: 0 });
  });

  test("asks for dry runs only", async () => {
    const { questions } = await run((wish) => pod(wish === "enabled"));
    expect(questions.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /api/v1/namespaces/shop/pods?dryRun=All",
      "POST /api/v1/namespaces/shop/pods?dryRun=All",
    ]);
  });

  test("fails and says so once when nothing is injected", async () => {
    const { works, said, nowMs } = await run(() => pod(false));
    expect(works).toBe(false);
    expect(said).toEqual([expect.stringContaining("came back without injection")]);
    expect(nowMs).toBe(3_000);
  });

  test("fails when a Pod that opted out is injected", async () => {
    const { works, said } = await run(() => pod(true));
    expect(works).toBe(false);
    expect(said).toEqual([expect.stringContaining("lastcall.dev/inject=disabled came back injected")]);
  });

  test("waits for rights that arrive late", async () => {
    const { works, said } = await run((wish, asked) => (asked === 1 ? refusal("not yet") : pod(wish === "enabled")));
    expect(works).toBe(true);
    expect(said).toEqual(['The API server refuses a Pod in namespace shop (403): "not yet"']);
  });

  test("fails in time when the API server cannot be asked", async () => {
    const { works, said } = await run(() => {
      throw new Error("connect ECONNREFUSED");
    });
    expect(works).toBe(false);
    expect(said).toEqual(["The API server cannot be asked: connect ECONNREFUSED"]);
  });

  test("does not take an answer that is no Pod for success", async () => {
    expect((await run(() => ({ status: 201, text: "null" }))).works).toBe(false);
    expect((await run(() => ({ status: 200, text: "<html>" }))).works).toBe(false);
  });
});

describe("its flags", () => {
  test("have defaults", () => {
    expect(readOptions([])).toEqual({
      options: { namespace: "default", waitMs: 30_000, kubeconfigFile: "" },
      mistakes: [],
      help: false,
    });
  });

  test("are all checked before anything is asked", () => {
    expect(readOptions(["--namespace=Shop", "--wait=60", "--wiat=1s", "now"]).mistakes).toEqual([
      '"--wiat": there is no such flag; see --help',
      '"now": no word is expected here, only flags',
      '--namespace: got "Shop", expected a namespace name, lower-case letters, digits and -',
      '--wait: got "60", expected a duration with a unit, such as 30s or 2m',
    ]);
  });
});
