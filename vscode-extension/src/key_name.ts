// Names of environment variables that may hold API keys.

/** Names that the settings of engines accept. */
const NAME = /^[A-Z_][A-Z0-9_]*$/;

/** Variables that change how programs run: a key is none of them. */
const RESERVED = /^(PATH|HOME|SHELL|NODE_.*|LD_.*|DYLD_.*|GHOSTBENCH_.*)$/;

/** Whether a variable of this name may hold a key. */
export function isKeyName(name: string): boolean {
  return NAME.test(name) && !RESERVED.test(name);
}
