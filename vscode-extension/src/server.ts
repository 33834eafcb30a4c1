// Finds the server: the path in the settings, the binary in the extension's folder, an installed one, or one that was
// built in the workspace, in this order.

import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";

const PROGRAM = process.platform === "win32" ? "ghostbench.exe" : "ghostbench";

/** Inputs of the search for the server. */
export interface Surroundings {
  /** The setting `ghostbench.server.path`. */
  chosen: string | null;
  /** Folder of the extension. */
  extension: string;
  /** Folders of the workspace whose programs may be run: none if it is not trusted. */
  trustedFolders: string[];
  /** Base of a relative path. */
  base: string | undefined;
}

/** No server was found; the message includes the remedy. */
export class NoServer extends Error {}

/** Returns the program to start; throws `NoServer`. */
export async function findServer(surroundings: Surroundings): Promise<string> {
  if (surroundings.chosen) {
    return checkChosen(resolve(surroundings.base ?? homedir(), expandHome(surroundings.chosen)));
  }
  const searchPath = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const folders = [
    join(surroundings.extension, "server"),
    ...searchPath,
    ...surroundings.trustedFolders.map((folder) => join(folder, "target", "release")),
  ];
  for (const folder of folders) {
    const path = join(folder, PROGRAM);
    if (await isProgram(path)) {
      return path;
    }
  }
  throw new NoServer(
    "the program ghostbench is not in your PATH; install it with `cargo install --locked --path server/cli` " +
      "in a checkout of Ghostbench, or set ghostbench.server.path",
  );
}

async function checkChosen(path: string): Promise<string> {
  if (await isProgram(path)) {
    return path;
  }
  throw new NoServer(`ghostbench.server.path is not a program: ${path}; correct the setting, or remove it`);
}

function expandHome(path: string): string {
  return path === "~" || path.startsWith("~/") || path.startsWith("~\\")
    ? join(homedir(), path.slice(1))
    : path;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
