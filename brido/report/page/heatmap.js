// The similarity of every pair as a square of cells, rows and columns in the order shown, with the
// reference as a column of its own. Dark is 1 and light is 0 in every document. Drawn once for a
// document, moved when the order changes; hovering over a cell shows its number.

const SVG = "http://www.w3.org/2000/svg";
const REFERENCE_GAP = 0.5;

function shape(name, attributes, parent) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (parent) parent.append(node);
  return node;
}

class HeatMap {
  constructor(similarity, count) {
    Object.assign(this, { similarity, count });
    this.svg = shape("svg", {
      viewBox: `-2.2 -2.2 ${count + REFERENCE_GAP + 3.4} ${count + 2.4}`, role: "img",
      "aria-label": "Similarity of each pair of candidates",
    });
    this.cells = [];
    for (let row = 0; row < count; row += 1) {
      for (let column = 0; column <= count; column += 1) this.cells.push(this.cell(row, column));
    }
    for (let rank = 1; rank <= count; rank += 1) {
      this.label(-0.6, rank - 0.28, rank);
      this.label(rank - 0.5, -0.3, rank);
    }
    this.label(count + REFERENCE_GAP + 0.5, -0.3, "ref");
    this.title(count / 2, -1.45, "compared with: rank of the other candidate");
    this.title(0, 0, "rank of the candidate").setAttribute("transform",
      `translate(-1.55 ${count / 2}) rotate(-90)`);
  }

  cell(row, column) {
    const value = this.similarity[row * (this.count + 1) + column];
    const self = row === column;
    const node = shape("rect", {
      class: self ? "self" : "cell", width: 0.94, height: 0.94, rx: 0.1,
      "fill-opacity": self ? 1 : (0.04 + 0.96 * value).toFixed(3),
    }, this.svg);
    shape("title", {}, node);
    return { node, row, column, value };
  }

  label(x, y, text) {
    return this.write(x, y, text, this.count > 20 ? 0.8 : 0.62);
  }

  /** Few candidates are narrower than the longer title would be: then both are smaller. */
  title(x, y, text) {
    return this.write(x, y, text, Math.min(0.62, (this.count + 3.4) / 27));
  }

  write(x, y, text, size) {
    const node = shape("text", { x, y, "font-size": size }, this.svg);
    node.textContent = text;
    return node;
  }

  /** Put rows and columns into this order of candidates. */
  arrange(order) {
    const place = [];
    order.forEach((candidate, rank) => { place[candidate] = rank; });
    for (const { node, row, column, value } of this.cells) {
      const reference = column === this.count;
      node.setAttribute("y", place[row] + 0.03);
      node.setAttribute("x", 0.03 + (reference ? this.count + REFERENCE_GAP : place[column]));
      const other = reference ? "the reference" : `rank ${place[column] + 1}`;
      node.firstChild.textContent = row === column ? `rank ${place[row] + 1}`
        : `rank ${place[row] + 1} against ${other}: ${value.toFixed(3)}`;
    }
  }
}
