// Display of text: elements without markup in strings, visible replacements of invisible characters, marked differences.

// Control characters that are invisible, or that change the order of other characters.
// Tab and line feed are not included; a carriage return before a line feed is removed earlier.
const INVISIBLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

// With more comparisons, the middle of two texts counts as one difference; this keeps displaying a case fast.
const MAX_COMPARISONS = 4_000_000;

// Creates an element. Attributes that are false or null are left out; children are nodes or strings, never markup.
function element(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) node[name] = value;
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child != null && child !== false));
  return node;
}

// Returns the text as nodes, each invisible character as `[U+202E]`.
function visible(text) {
  const plain = text.replaceAll("\r\n", "\n");
  const nodes = [];
  let end = 0;
  for (const match of plain.matchAll(INVISIBLE)) {
    nodes.push(plain.slice(end, match.index), control(match[0]));
    end = match.index + match[0].length;
  }
  nodes.push(plain.slice(end));
  return nodes.filter((node) => node !== "");
}

function control(character) {
  const code = character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
  return element("span", { class: "control", title: "invisible control character" }, `[U+${code}]`);
}

// Splits a text into words, line ends, runs of blanks and single punctuation characters.
function words(text) {
  return text.match(/[\p{L}\p{N}_]+|\r?\n|[^\S\n]+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

// Returns which words of `left` and of `right` are not in the longest common subsequence: two arrays of booleans.
function differences(left, right) {
  const missing = new Array(left.length).fill(false);
  const extra = new Array(right.length).fill(false);
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start++;
  let [leftEnd, rightEnd] = [left.length, right.length];
  while (leftEnd > start && rightEnd > start && left[leftEnd - 1] === right[rightEnd - 1]) leftEnd--, rightEnd--;
  const [rows, columns] = [leftEnd - start, rightEnd - start];
  if (rows * columns > MAX_COMPARISONS) {
    missing.fill(true, start, leftEnd);
    extra.fill(true, start, rightEnd);
    return { missing, extra };
  }
  const lengths = commonLengths(left, right, start, rows, columns);
  let [row, column] = [0, 0];
  while (row < rows || column < columns) {
    const here = row * (columns + 1) + column;
    if (row < rows && column < columns && left[start + row] === right[start + column]) row++, column++;
    else if (row < rows && (column === columns || lengths[here + columns + 1] >= lengths[here + 1])) missing[start + row++] = true;
    else extra[start + column++] = true;
  }
  return { missing, extra };
}

// Returns the lengths of the longest common subsequences of all pairs of suffixes, row by row.
function commonLengths(left, right, start, rows, columns) {
  const width = columns + 1;
  const lengths = new Uint16Array((rows + 1) * width);
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      const here = row * width + column;
      lengths[here] = left[start + row] === right[start + column]
        ? lengths[here + width + 1] + 1
        : Math.max(lengths[here + width], lengths[here + 1]);
    }
  }
  return lengths;
}

// Returns the words as nodes, runs of marked ones inside one `tag`. Marked blanks and line ends are made visible.
function marked(parts, marks, tag) {
  const nodes = [];
  for (let start = 0, end; start < parts.length; start = end) {
    end = start + 1;
    while (end < parts.length && marks[end] === marks[start]) end++;
    const text = parts.slice(start, end).join("");
    nodes.push(...(marks[start] ? [element(tag, null, ...visible(blanksShown(text)))] : visible(text)));
  }
  return nodes;
}

function blanksShown(text) {
  if (/\S/.test(text)) return text.replace(/\r?\n/g, "\u21b5\n");
  return text.replaceAll("\t", "\u21e5\t").replaceAll(" ", "\u00b7").replace(/\r?\n/g, "\u21b5\n");
}
