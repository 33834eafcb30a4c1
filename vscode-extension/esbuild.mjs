// Bundles the extension with its dependencies into one file, and the files for the tests.

import { writeFileSync } from "node:fs";

import { build } from "esbuild";

const common = {
  bundle: true,
  platform: "node",
  // The Node of the oldest VS Code that package.json admits.
  target: "node20",
  logLevel: "warning",
};

const { metafile } = await build({
  ...common,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  external: ["vscode"],
  format: "cjs",
  minify: true,
  metafile: true,
});
// `cargo xtask package` collects the licences of these sources.
writeFileSync("dist/bundled.json", JSON.stringify({ inputs: metafile.inputs }));

await build({
  ...common,
  entryPoints: ["driver", "activation.test", "manifest.test", "policies.test", "server.test"].map(
    (name) => `test/${name}.ts`,
  ),
  outdir: "dist/test",
  outExtension: { ".js": ".mjs" },
  external: ["playwright-core"],
  format: "esm",
});
