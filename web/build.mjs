// Builds the page into the folder from which the daemon serves it.
// Rule 1: names carry a hash of their content, so that browsers may keep them for ever.
// Rule 2: index.html is written last: where it is, the rest is whole. A build that fails leaves the
// former page as it was.

import { readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const page = process.env.NACRE_PAGE ?? join(here, "..", "src", "nacre", "page");
const assets = join(page, "assets");
const fresh = join(page, ".assets");

await rm(fresh, { recursive: true, force: true });

const { metafile } = await build({
  entryPoints: { page: join(here, "src", "main.tsx"), icon: join(here, "src", "icon.svg") },
  outdir: fresh,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  entryNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
  loader: { ".woff2": "file", ".svg": "copy" },
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none", // licences.txt has them whole
  metafile: true,
  logLevel: "warning",
});

const names = Object.keys(metafile.outputs).map((path) => basename(path));
const named = (start, end) => {
  const name = names.find((one) => one.startsWith(start) && one.endsWith(end));
  if (!name) throw new Error(`the build has no ${start}*${end}`);
  return `assets/${name}`;
};

await writeFile(join(fresh, "licences.txt"), await licences());
// Once here instead of at each request; fonts are compressed already.
for (const name of await readdir(fresh)) {
  if (!/\.(js|css|svg|txt)$/.test(name)) continue;
  await writeFile(join(fresh, `${name}.gz`), gzipSync(await readFile(join(fresh, name)), { level: 9 }));
}
await rm(assets, { recursive: true, force: true });
await rename(fresh, assets);
const template = await readFile(join(here, "index.html"), "utf8");
await writeFile(
  join(page, "index.html"),
  template
    .replace("%icon%", named("icon-", ".svg"))
    .replace("%style%", named("page-", ".css"))
    .replace("%script%", named("page-", ".js")),
);

/** Collect the licences of everything that is in the bundle. */
async function licences() {
  const packages = new Set();
  for (const path of Object.keys(metafile.inputs)) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
    if (found) packages.add(found[1]);
  }
  const parts = [];
  for (const name of [...packages].sort()) {
    const folder = join(here, "node_modules", name);
    const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one));
    if (file) parts.push(`== ${name}\n\n${await readFile(join(folder, file), "utf8")}`);
  }
  const font = await readFile(join(here, "licences", "JetBrainsMono-OFL.txt"), "utf8");
  return [...parts, `== JetBrains Mono, the font\n\n${font}`].join("\n");
}
