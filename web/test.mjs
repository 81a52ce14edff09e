// Runs the unit tests of the page's pure parts, in Node: no browser, no daemon.

import { spawnSync } from "node:child_process";
import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const built = join(here, "node_modules", ".tests");
await rm(built, { recursive: true, force: true });
const tests = (await readdir(join(here, "tests"))).filter((name) => name.endsWith(".test.ts"));
await build({
  entryPoints: tests.map((name) => join(here, "tests", name)),
  outdir: built,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  splitting: false,
  logLevel: "warning",
});
const files = tests.map((name) => join(built, name.replace(/\.ts$/, ".mjs")));
const { status } = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" });
process.exit(status ?? 1);
