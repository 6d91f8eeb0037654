// Makes a component of a guest in JavaScript: node build.mjs GUEST OUTPUT
// [FEATURE...], without the features that are named.
import { readFile, rename, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { componentize } from "@bytecodealliance/componentize-js";

const [guest, output, ...disableFeatures] = process.argv.slice(2);
const { component } = await componentize(await readFile(guest, "utf8"), {
  sourceName: basename(guest),
  witPath: fileURLToPath(new URL("../../wit", import.meta.url)),
  worldName: "capsule",
  disableFeatures,
});
// Whoever reads it meanwhile must not get half of it.
await writeFile(output + ".part", component);
await rename(output + ".part", output);
