/** Every scene, in the order of the table in the docs. */
import { HTTP1_SCENES } from "./http1-scenes.ts";
import type { Scene } from "./scene.ts";

export const SCENES: readonly Scene[] = [...HTTP1_SCENES];
