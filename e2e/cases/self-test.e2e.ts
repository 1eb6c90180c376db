/** Tests `helm test`: its success, and its error if Pods cannot start with a manager. */
import { expect, test } from "vitest";
import { runHelm } from "../client/helm.ts";
import { install } from "../client/installation.ts";
import { kubectlOf } from "../client/kubectl.ts";
import { RELEASE, RELEASE_NAMESPACE } from "../client/release.ts";
import { imageOf, readSuite } from "../client/suite.ts";

const suite = readSuite(process.env);
const HELM_TEST_ARGS = ["test", RELEASE, "--timeout=180s"];

test("helm test passes if nodes can pull and run the manager, and does not leave a Pod behind", async () => {
  await runHelm(suite, RELEASE_NAMESPACE, HELM_TEST_ARGS);
  const getTestPod = [
    "get",
    "pods",
    "--namespace=default",
    "--ignore-not-found",
    "--output=name",
    "lastcall-self-test",
  ];
  expect(await kubectlOf(suite).run(getTestPod)).toBe("");
});

test("helm test fails with the node's error if the manager's image cannot be pulled", async () => {
  const [repository = ""] = imageOf(suite, "lastcall-manager").split(/:(?=[^/]*$)/);
  try {
    await install(suite, { selfTest: { wait: "10s" } }, "lastcall-manager", {
      repository,
      tag: "absent",
      pullPolicy: "IfNotPresent",
    });
    await expect(runHelm(suite, RELEASE_NAMESPACE, HELM_TEST_ARGS)).rejects.toThrow(
      /Pod lastcall-self-test in namespace default does not start its container lastcall: (ErrImagePull|ImagePullBackOff)/,
    );
  } finally {
    await install(suite);
  }
});
