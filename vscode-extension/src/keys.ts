// API keys of engines: kept in VS Code's secret storage, and passed to the server as environment variables, whose names the
// settings of the engines have (`api_key_env`). They are in no file, setting or log.

import { type ExtensionContext, window } from "vscode";

import { isKeyName } from "./key_name.ts";

/** Beginning of the names in the secret storage. */
const PREFIX = "ghostbench.key.";

/** Names of the variables with a stored key; the secret storage cannot list them. */
const NAMES = "ghostbench.keyNames";

const OTHER = "Another variable…";

export class Keys {
  constructor(private readonly context: ExtensionContext) {}

  /** Returns the variables of all stored keys. */
  async variables(): Promise<Record<string, string>> {
    const variables: Record<string, string> = {};
    for (const name of this.names()) {
      const key = await this.context.secrets.get(PREFIX + name);
      if (key !== undefined) {
        variables[name] = key;
      }
    }
    return variables;
  }

  /** Asks for a key and stores it. Returns whether the server must be restarted. */
  async set(suggested: string | undefined): Promise<boolean> {
    const name = await this.chooseName(suggested);
    if (name === undefined) {
      return false;
    }
    const key = await window.showInputBox({
      title: `API key for ${name}`,
      prompt: "It is kept in VS Code's secret storage, and passed to the server as an environment variable.",
      password: true,
      ignoreFocusOut: true,
      validateInput: (text) => (/[\r\n\0]/.test(text) ? "A key has one line." : undefined),
    });
    if (key === undefined || key.trim() === "") {
      return false;
    }
    await this.context.secrets.store(PREFIX + name, key.trim());
    await this.context.globalState.update(NAMES, [...new Set([...this.names(), name])]);
    return true;
  }

  /** Removes a key that the user chooses. Returns whether the server must be restarted. */
  async remove(): Promise<boolean> {
    const names = this.names();
    const name = await window.showQuickPick(names, {
      placeHolder: names.length === 0 ? "No key is stored" : "Key to remove",
    });
    if (name === undefined) {
      return false;
    }
    await this.context.secrets.delete(PREFIX + name);
    await this.context.globalState.update(
      NAMES,
      names.filter((other) => other !== name),
    );
    return true;
  }

  private async chooseName(suggested: string | undefined): Promise<string | undefined> {
    if (suggested !== undefined && isKeyName(suggested)) {
      return suggested;
    }
    const names = [...new Set([...this.names(), "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "MISTRAL_API_KEY"])];
    const name = await window.showQuickPick([...names, OTHER], {
      placeHolder: "Environment variable: the api_key_env of the engine",
    });
    if (name !== OTHER) {
      return name;
    }
    return window.showInputBox({
      prompt: "Name of the environment variable, as in api_key_env of the engine",
      validateInput: (text) => (isKeyName(text) ? undefined : "Use capital letters, digits and underscores."),
    });
  }

  private names(): string[] {
    return this.context.globalState.get<string[]>(NAMES, []).filter(isKeyName);
  }
}
