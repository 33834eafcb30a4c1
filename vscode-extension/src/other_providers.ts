// Other extensions that write ghost text: they take the place of ours, and the numbers of a trial then mean something else.

import { type Memento, commands, extensions, window } from "vscode";

/** Extensions that are known to suggest code inline. */
const KNOWN = [
  "GitHub.copilot",
  "GitHub.copilot-chat",
  "Codeium.codeium",
  "Codeium.windsurfPyright",
  "TabNine.tabnine-vscode",
  "Supermaven.supermaven",
  "Continue.continue",
  "TabbyML.vscode-tabby",
  "sourcegraph.cody-ai",
  "AmazonWebServices.amazon-q-vscode",
  "augment.vscode-augment",
  "Google.geminicodeassist",
  "kilocode.Kilo-Code",
  "ggml-org.llama-vscode",
  "HuggingFace.huggingface-vscode",
  "RefactAI.codify",
  "Blackboxapp.blackbox",
  "JetBrains.jetbrains-ai-assistant",
  "VisualStudioExptTeam.vscodeintellicode-completions",
];

/** The extensions for which the user has seen the explanation. */
const SEEN = "ghostbench.otherProvidersSeen";

const LEARN = "Show the extensions";

/** What other providers mean for the numbers. */
export const MEANING =
  "While they are enabled, VS Code shows their suggestions or ours. Text that they write is recorded as another provider's, " +
  "fewer of our suggestions are seen and accepted, and code written after theirs counts for none of the arms. Replays are not affected.";

/** Returns the names of the active extensions that suggest code inline. */
export function otherProviders(): string[] {
  const active = KNOWN.map((id) => extensions.getExtension(id)).filter((extension) => extension?.isActive);
  const names = active.map((extension) => {
    const manifest = extension?.packageJSON as { displayName?: string } | undefined;
    return manifest?.displayName ?? extension?.id ?? "";
  });
  return [...new Set(names)];
}

/** Explains once, for each set of other providers, what they mean for a trial. */
export async function explainOtherProviders(memory: Memento): Promise<void> {
  const names = otherProviders().sort();
  const seen = memory.get<string[]>(SEEN, []);
  if (names.every((name) => seen.includes(name))) {
    return;
  }
  await memory.update(SEEN, [...new Set([...seen, ...names])]);
  const message = `Ghostbench: ${names.join(", ")} also ${names.length === 1 ? "suggests" : "suggest"} code. ${MEANING}`;
  if ((await window.showInformationMessage(message, LEARN)) === LEARN) {
    await commands.executeCommand("workbench.extensions.action.showEnabledExtensions");
  }
}
