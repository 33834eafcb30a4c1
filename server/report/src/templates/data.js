// Reads the cases of the page: an index of all, and blocks of their texts, which are unpacked when they are needed.

// Unpacked blocks that are kept.
const BLOCKS_KEPT = 24;

async function unpack(script) {
  const packed = Uint8Array.from(atob(script.textContent), (byte) => byte.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).json();
}

// Returns the engines, the cases as the list shows them, and functions that look up answers and texts.
async function readData() {
  const index = await unpack(document.getElementById("case-index"));
  const blocks = caseBlocks(document.querySelectorAll("script.case-block"), index.block_cases);
  const code = (character) => index.outcomes[character.charCodeAt(0) - 48];
  return {
    engines: index.engines,
    linesKept: index.lines_kept,
    cases: listedCases(index),
    // The outcome of an engine's first answer to a case; undefined if it was not asked.
    outcome: (item, engine) => code(index.answers[engine].outcomes[item.number]),
    outcomes(item, engine) {
      const { outcomes, repeated } = index.answers[engine];
      return [...outcomes[item.number], ...(repeated[item.number] ?? "")].map(code).filter(Boolean);
    },
    // Edit similarity of the first answer, from 0 to 1; null if there is none.
    similarity(item, engine) {
      const thousandths = index.answers[engine].similarities[item.number];
      return thousandths == null ? null : thousandths / 1000;
    },
    // The value that the verdict compares; null if the case counts in no total.
    value: (item, engine) => index.answers[engine].values[item.number],
    // The case with its texts and answers: at once if its block is unpacked, else as a promise.
    details(item) {
      const block = blocks.get(item.place);
      return block instanceof Promise ? block.then((block) => withDetails(item, block, index.block_cases)) : withDetails(item, block, index.block_cases);
    },
  };
}

function listedCases(index) {
  const of = (column, number) => column.names[column.of[number]];
  return index.ids.map((id, number) => ({
    number, id, place: index.places[number], line: index.lines[number],
    path: of(index.paths, number), hole: of(index.holes, number), scenario: of(index.scenarios, number),
    variant: of(index.variants, number), block_kind: of(index.block_kinds, number),
    language: of(index.languages, number), origin: of(index.origins, number),
  }));
}

// Keeps the blocks that were used last. A block that is being unpacked is a promise.
function caseBlocks(scripts, size) {
  const kept = new Map();
  return {
    get(place) {
      const number = Math.floor(place / size);
      const block = kept.get(number) ?? unpack(scripts[number]).then((block) => {
        if (kept.has(number)) kept.set(number, block);
        return block;
      });
      kept.delete(number);
      kept.set(number, block);
      if (kept.size > BLOCKS_KEPT) kept.delete(kept.keys().next().value);
      return block;
    },
  };
}

function withDetails(item, block, size) {
  const stored = block.cases[item.place % size];
  const resolved = (part) => ({ ...part, text: block.texts[part.text] });
  return {
    ...item, character: stored.character, provenance: stored.origin, tags: stored.tags,
    before: resolved(stored.before), truth: block.texts[stored.truth], after: resolved(stored.after),
    context: stored.context.map(resolved),
    answers: stored.answers.map((answer) => ({
      ...resolved(answer),
      raw: answer.raw == null ? null : block.texts[answer.raw],
      tests: answer.tests ? { ...answer.tests, output: block.texts[answer.tests.output] } : null,
      ms: answer.times.map((tenths) => tenths == null ? null : tenths / 10),
      metrics: Object.fromEntries(block.metrics.map((name, column) => [name, answer.metrics[column]]).filter(([, value]) => value != null)),
    })),
  };
}
