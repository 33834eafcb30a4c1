// Reads the window of VS Code as text. The function runs in the page before anything else, so it must not refer to other
// code; its results are in the global object `Eyes`.

export function openEyes(): void {
  // Editors draw blanks as another character, so that the browser keeps them.
  const plain = (text: string | null): string => (text ?? "").replaceAll("\u00a0", " ");

  const texts = (selector: string): string[] =>
    Array.from(document.querySelectorAll(selector), (element) => plain(element.textContent));

  // A suggestion's first line.
  const SUGGESTED = ".ghost-text-decoration, .ghost-text-decoration-preview";

  // Times of the last key press and of a suggestion drawn after it, in milliseconds since the window opened.
  let keyDown = 0;
  let drawnAt: number | null = null;

  const Eyes = {
    /** All that was drawn with a suggestion in it since the window opened, in order: the first line and the suggestion. */
    drawn: [] as { line: string; ghost: string }[],

    /** The suggestion as it is drawn, lines joined by line feeds; null where there is none. */
    ghostText(): string | null {
      const first = texts(SUGGESTED).join("");
      const rest = texts(".suggest-preview-text .view-line, .suggest-preview-text > div");
      return first === "" && rest.length === 0 ? null : [first, ...rest].join("\n");
    },

    /** Milliseconds from the last key to the suggestion that was drawn after it; null where there is none yet. */
    delay: (): number | null => (drawnAt === null ? null : drawnAt - keyDown),

    /** The lines of the editor as they are drawn, with a suggestion's first line. */
    lines: (): string[] => texts(".monaco-editor .view-lines .view-line"),

    /** The lines that are in the document. */
    written: (): string[] =>
      Array.from(document.querySelectorAll(".monaco-editor .view-lines .view-line"), (line) => {
        const copy = line.cloneNode(true) as Element;
        copy.querySelectorAll(SUGGESTED).forEach((element) => element.remove());
        return plain(copy.textContent);
      }),

    /** The titles of the code lenses. */
    lenses: (): string[] => texts(".codelens-decoration > a"),

    /** What the user is told, the latest first. */
    messages: (): string[] => texts(".notification-list-item-message"),

    /** The item of the extension in the status bar. */
    status: (): string | null => texts("#ghostbench\\.ghostbench\\.ghostbench\\.status")[0]?.trim() ?? null,

    /** Whether the server runs and does nothing at the moment. */
    isServed: (): boolean =>
      document.querySelector("#ghostbench\\.ghostbench\\.ghostbench\\.status .codicon-check") !== null,

    /** The rows of the Testing view. */
    tests: (): string[] => texts(".test-explorer .monaco-list-row"),

    /** The item of a trial in the status bar; null where there is none. */
    trial: (): string | null => texts("#ghostbench\\.ghostbench\\.ghostbench\\.trial")[0]?.trim() ?? null,

    /** The entries of the list that is shown. */
    choices: (): string[] => texts(".quick-input-list .monaco-list-row .label-name"),

    /** The one of them that the enter key would choose. */
    chosen: (): string | null => texts(".quick-input-list .monaco-list-row.focused .label-name")[0] ?? null,

    /** Where keys go: to a question of VS Code, to the text, or elsewhere. */
    focus(): "question" | "text" | null {
      const isIn = (selector: string): boolean => Boolean(document.activeElement?.closest(selector));
      return isIn(".quick-input-widget")
        ? "question"
        : isIn(".editor-instance .monaco-editor")
          ? "text"
          : null;
    },

    /** Line and column of the cursor, from 1, as the status bar tells. */
    cursor: (): string | null => texts("#status\\.editor\\.selection")[0]?.trim() ?? null,

    /** The titles of the open tabs. */
    tabs: (): string[] => texts(".tabs-container .tab .label-name"),

    /** The file name of the active tab. */
    tab: (): string | null =>
      document.querySelector(".tabs-container .tab.active")?.getAttribute("data-resource-name") ?? null,

    /** The channel of the output panel. */
    output: (): string | null =>
      document.querySelector<HTMLSelectElement>(".part.panel .monaco-select-box")?.value ?? null,

    /** What a failure shows. */
    summary: (): unknown => ({
      lines: Eyes.lines(),
      written: Eyes.written(),
      ghost: Eyes.ghostText(),
      cursor: Eyes.cursor(),
      focus: Eyes.focus(),
      choices: Eyes.choices(),
      messages: Eyes.messages(),
      tabs: Eyes.tabs(),
      status: Eyes.status(),
      trial: Eyes.trial(),
      tests: Eyes.tests(),
    }),
  };

  const look = (): void => {
    const ghost = Eyes.ghostText();
    if (ghost !== null) {
      drawnAt ??= performance.now();
    }
    const line = Eyes.lines()[0] ?? "";
    const last = Eyes.drawn.at(-1);
    if (ghost !== null && (ghost !== last?.ghost || line !== last.line)) {
      Eyes.drawn.push({ line, ghost });
    }
  };
  const noteKey = (event: KeyboardEvent): void => {
    keyDown = event.timeStamp;
    drawnAt = null;
  };
  addEventListener("keydown", noteKey, { capture: true });
  addEventListener("DOMContentLoaded", () => {
    new MutationObserver(look).observe(document.body, {
      childList: true,
      characterData: true,
      subtree: true,
    });
  });
  Object.assign(globalThis, { Eyes });
}
