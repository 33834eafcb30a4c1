// Drives a real VS Code for tests and measurements: code-server with its own profile, and one window of it in a headless
// Chromium.
//
// `GHOSTBENCH_DRIVER` has the folder and file to open, as JSON. Then each line of input is a request, which is answered by
// one line: a value or an error. The driver never waits: its client repeats requests until a condition is met. When the
// input ends, even because the client crashed, the driver stops everything.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Interface, createInterface } from "node:readline";

import { type BrowserContext, type Page, chromium } from "playwright-core";

import { openEyes } from "./eyes.ts";

/** What to open. */
interface Options {
  /** The program. */
  codeServer: string;
  /** The program. */
  chromium: string;
  /** The packed extension. */
  extension: string;
  /** Folder for what VS Code and the browser keep. */
  profile: string;
  /** Folder of the workspace. */
  folder: string;
  /** File in it. */
  file: string;
  /** The user's settings. */
  settings: Record<string, unknown>;
  /** Whether the workspace is trusted. */
  isTrusted: boolean;
}

type Request =
  | { do: "type"; text: string }
  | { do: "press"; keys: string }
  | { do: "click"; selector: string }
  | { do: "evaluate"; script: string }
  | { do: "pages"; script: string }
  | { do: "openWindow" }
  | { do: "useWindow"; number: number }
  | { do: "closeWindow" }
  | { do: "screenshot"; path: string };

/** Nothing but what is driven comes between, and nothing is kept from one window to the next. */
const QUIET = {
  "chat.disableAIFeatures": true,
  "editor.autoClosingBrackets": "never",
  "editor.quickSuggestions": { other: "off", comments: "off", strings: "off" },
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "files.hotExit": "off",
  "security.workspace.trust.startupPrompt": "never",
  "telemetry.telemetryLevel": "off",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
};

/** Without a gallery nothing is asked of other machines. */
const NO_GALLERY = {
  serviceUrl: "",
  itemUrl: "",
  resourceUrlTemplate: "",
  controlUrl: "",
  recommendationsUrl: "",
};

const ENVIRONMENT = { ...process.env, EXTENSIONS_GALLERY: JSON.stringify(NO_GALLERY) };

const options = JSON.parse(process.env["GHOSTBENCH_DRIVER"] ?? "") as Options;
/** The window that is driven: the one that was opened or chosen last. */
let driven = 0;
const folders = [
  "--user-data-dir",
  join(options.profile, "data"),
  "--extensions-dir",
  join(options.profile, "extensions"),
];

installExtension();
writeSettings("User", QUIET);
// The path of the server depends on the machine.
writeSettings("Machine", options.settings);
const server = startServer();
const ended = once(server, "exit");
try {
  const window = await openBrowser();
  try {
    const url = await address(server);
    await openWindow(window, url);
    await serve(window, url);
  } finally {
    await window.close();
  }
} finally {
  server.kill();
  await ended;
}

function installExtension(): void {
  const result = spawnSync(options.codeServer, [...folders, "--install-extension", options.extension], {
    env: ENVIRONMENT,
    encoding: "utf8",
  });
  if (result.status !== 0) {
    throw new Error(`the extension cannot be installed: ${result.stderr}`);
  }
}

function writeSettings(whose: string, settings: object): void {
  const folder = join(options.profile, "data", whose);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "settings.json"), JSON.stringify(settings));
}

function startServer(): ChildProcess {
  const quiet = ["--disable-telemetry", "--disable-update-check", "--disable-getting-started-override"];
  const trust = options.isTrusted ? ["--disable-workspace-trust"] : [];
  // The system chooses a port that is free.
  const reach = ["--auth", "none", "--bind-addr", "127.0.0.1:0"];
  return spawn(options.codeServer, [...folders, ...quiet, ...trust, ...reach], {
    env: ENVIRONMENT,
    // It reports missing parts that the tests do not need.
    stdio: ["ignore", "pipe", "ignore"],
  });
}

/** Where the server listens, as it says. */
async function address(server: ChildProcess): Promise<URL> {
  const lines = linesOf(server.stdout);
  const said = new Promise<URL>((resolve) => {
    lines.on("line", (line) => {
      const found = /HTTP server listening on (\S+)/.exec(line)?.[1];
      if (found !== undefined) {
        resolve(new URL(found));
      }
    });
  });
  const gone = ended.then(() => {
    throw new Error("code-server ended before it listened");
  });
  return Promise.race([said, gone]);
}

function linesOf(stream: NodeJS.ReadableStream | null): Interface {
  if (stream === null) {
    throw new Error("the stream is not piped");
  }
  return createInterface({ input: stream });
}

function openBrowser(): Promise<BrowserContext> {
  return chromium.launchPersistentContext(join(options.profile, "browser"), {
    executablePath: options.chromium,
    headless: true,
    viewport: { width: 1200, height: 700 },
    args: [
      // A container has no sandbox for the browser; it opens only our own pages.
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ],
  });
}

async function openWindow(browser: BrowserContext, url: URL): Promise<Page> {
  const [first] = browser.pages();
  const page = first?.url() === "about:blank" ? first : await browser.newPage();
  await page.addInitScript(openEyes);
  const target = new URL(url);
  const file = `vscode-remote://${url.host}${join(options.folder, options.file)}`;
  target.searchParams.set("folder", options.folder);
  target.searchParams.set("payload", JSON.stringify([["openFile", file]]));
  await page.goto(target.href);
  return page;
}

async function serve(browser: BrowserContext, url: URL): Promise<void> {
  for await (const line of linesOf(process.stdin)) {
    const answer = await perform(browser, url, JSON.parse(line) as Request).then(
      (value) => ({ value: value ?? null }),
      (error: unknown) => ({ error: String(error) }),
    );
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
}

async function perform(browser: BrowserContext, url: URL, request: Request): Promise<unknown> {
  const page = browser.pages()[driven];
  if (page === undefined) {
    throw new Error(`there is no window ${driven}`);
  }
  switch (request.do) {
    case "type":
      return page.keyboard.type(request.text);
    case "press":
      return page.keyboard.press(request.keys);
    case "click":
      return page.click(request.selector);
    case "evaluate":
      return page.evaluate(request.script);
    case "pages":
      return evaluateInPages(page, request.script);
    case "openWindow":
      await openWindow(browser, url);
      driven = browser.pages().length - 1;
      return driven;
    case "useWindow":
      driven = request.number;
      return browser.pages()[driven]?.bringToFront();
    case "closeWindow":
      driven = 0;
      return page.close();
    case "screenshot":
      return page.screenshot({ path: request.path }).then(() => null);
  }
}

/** Evaluates an expression in each page that an extension shows; null in those that are being replaced. */
async function evaluateInPages(page: Page, script: string): Promise<unknown[]> {
  const shown = page.frames().filter((frame) => frame.url().includes("/fake.html"));
  return Promise.all(shown.map((frame) => frame.evaluate(script).catch(() => null)));
}
