// Bundles the extension with its dependencies into one file, and the files for the tests.

import { build } from "esbuild";

const common = {
  bundle: true,
  platform: "node",
  // The Node of the oldest VS Code that package.json admits.
  target: "node20",
  logLevel: "warning",
};

await build({
  ...common,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  external: ["vscode"],
  format: "cjs",
  minify: true,
});

await build({
  ...common,
  entryPoints: ["test/driver.ts", "test/server.test.ts"],
  outdir: "dist/test",
  outExtension: { ".js": ".mjs" },
  external: ["playwright-core"],
  format: "esm",
});
