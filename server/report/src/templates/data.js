// Reads the cases of the page: base64, gzip, JSON. Rows refer to texts by index, because several rows share some of them.

async function readData() {
  const packed = Uint8Array.from(atob(document.getElementById("report-data").textContent), (byte) => byte.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return withTexts(await new Response(unpacked).json());
}

function withTexts(data) {
  const text = (index) => data.texts[index];
  for (const item of data.cases) {
    for (const part of [item.before, item.after, ...item.context]) part.text = text(part.text);
    item.truth = text(item.truth);
    for (const answer of item.answers) {
      answer.text = text(answer.text);
      if (answer.raw != null) answer.raw = text(answer.raw);
    }
  }
  return data;
}
