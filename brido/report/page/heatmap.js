// The similarity of every pair as a square of cells, rows and columns in elected order, with the
// reference as a column of its own. Dark is 1 and light is 0 in every document. Drawn once per
// document, moved when the order changes.

const SVG = "http://www.w3.org/2000/svg";
const REFERENCE_GAP = 0.5;

function shape(name, attributes, parent) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (parent) parent.append(node);
  return node;
}

class HeatMap {
  /** `say` receives a sentence about the cell under the pointer or the cursor. */
  constructor(similarity, count, say) {
    Object.assign(this, { similarity, count, say, row: 0, column: 1, order: [] });
    this.svg = shape("svg", {
      viewBox: `-2.2 -2.2 ${count + REFERENCE_GAP + 3.4} ${count + 2.4}`, tabindex: "0",
      role: "application",
      "aria-label": "Similarity of every pair of candidates; move with the arrow keys",
    });
    this.cells = [];
    for (let row = 0; row < count; row += 1) {
      for (let column = 0; column <= count; column += 1) this.cells.push(this.cell(row, column));
    }
    this.labels = Array.from({ length: count }, (_, i) => [
      this.label(-0.6, i + 0.72, i + 1), this.label(i + 0.5, -0.3, i + 1)]);
    this.label(count + REFERENCE_GAP + 0.5, -0.3, "ref");
    this.title(count / 2, -1.45, "compared with: rank of the other candidate");
    this.title(0, 0, "rank of the candidate").setAttribute("transform",
      `translate(-1.55 ${count / 2}) rotate(-90)`);
    this.cursor = shape("rect", { class: "cursor", width: 1, height: 1, visibility: "hidden" },
      this.svg);
    this.listen();
  }

  cell(row, column) {
    const value = this.similarity[row * (this.count + 1) + column];
    const self = row === column;
    const node = shape("rect", {
      class: self ? "self" : "cell", width: 0.94, height: 0.94, rx: 0.1,
      "fill-opacity": self ? 1 : (0.04 + 0.96 * value).toFixed(3),
    }, this.svg);
    node.dataset.row = row;
    node.dataset.column = column;
    return node;
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

  /** Put rows and columns into the elected order. */
  arrange(order) {
    this.order = order;
    const place = [];
    order.forEach((candidate, rank) => { place[candidate] = rank; });
    for (const node of this.cells) {
      const column = Number(node.dataset.column);
      node.setAttribute("y", place[node.dataset.row] + 0.03);
      node.setAttribute("x",
        0.03 + (column === this.count ? this.count + REFERENCE_GAP : place[column]));
    }
    this.cursor.setAttribute("visibility", "hidden");
  }

  listen() {
    this.svg.addEventListener("pointerover", (event) => {
      const { row, column } = event.target.dataset;
      if (row === undefined) return;
      const across = Number(column);
      this.point(this.order.indexOf(Number(row)),
        across === this.count ? this.count : this.order.indexOf(across));
    });
    this.svg.addEventListener("focus", () => this.point(this.row, this.column));
    this.svg.addEventListener("keydown", (event) => {
      const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
      const step = steps[event.key];
      if (!step) return;
      event.preventDefault();
      this.point(Math.min(Math.max(this.row + step[0], 0), this.count - 1),
        Math.min(Math.max(this.column + step[1], 0), this.count));
    });
  }

  /** Show the cell at a rank against a rank (or, at column N, the reference). */
  point(row, column) {
    Object.assign(this, { row, column });
    const left = column === this.count ? this.count + REFERENCE_GAP : column;
    for (const [key, value] of [["x", left], ["y", row], ["visibility", "visible"]]) {
      this.cursor.setAttribute(key, value);
    }
    const other = column === this.count ? this.count : this.order[column];
    if (row === column) {
      this.say(`Candidate ranked ${row + 1} does not vote on itself.`);
      return;
    }
    const value = this.similarity[this.order[row] * (this.count + 1) + other];
    const against = column === this.count ? "the reference" : `candidate ranked ${column + 1}`;
    this.say(`Candidate ranked ${row + 1} against ${against}: ${value.toFixed(3)}`);
  }
}
