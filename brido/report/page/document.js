// One document on screen: its candidates in elected order, the article, the systems' summaries.

/** An element with text (never markup) or children. */
function element(name, className, ...children) {
  const node = document.createElement(name);
  if (className) node.className = className;
  node.append(...children);
  return node;
}

function button(text, action) {
  const node = element("button", "", text);
  node.type = "button";
  node.addEventListener("click", action);
  return node;
}

/** A summary's parts as text with its mentions marked. */
function marked(parts) {
  const paragraph = element("p");
  for (const [text, supported, kind] of parts) {
    if (supported === undefined) {
      paragraph.append(text);
      continue;
    }
    const mark = element("mark", supported ? "yes" : "no", text);
    mark.title = `${kind}: ${supported ? "supported by" : "not supported by"} the article`;
    paragraph.append(mark);
  }
  return paragraph;
}

function plural(count, word) {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** How the page's attributes name an alpha. */
function nameOf(alpha) {
  return alpha === null ? "run" : String(alpha);
}

/** One sentence on what the vote does to what the article does not support. */
function whatIsSeen(item, eligible, first, alpha) {
  const known = item.candidates.filter((candidate, index) => eligible[index]);
  const wrong = known.filter((candidate) => candidate.unsupported).length;
  if (!known.length) return "No candidate can be elected.";
  if (!wrong) return `None of ${plural(known.length, "candidate")} says anything unsupported.`;
  const own = item.summaries.base;
  const also = own && own.unsupported ? ", and so does the summary by base itself" : "";
  const winner = alpha === null ? "the candidate that the run puts first"
    : alpha === 0 ? "the candidate that agrees most with the others"
    : alpha === Infinity ? "the candidate nearest to the reference"
      : "the candidate that this weight puts first";
  const verdict = item.candidates[first].unsupported ? "does so too" : "does not";
  return `${wrong} of ${plural(known.length, "candidate")} ${wrong === 1 ? "says" : "say"} ` +
    `something that the article does not support (marked)${also}; ${winner} ${verdict}.`;
}

class Reader {
  constructor(root, data, actions) {
    Object.assign(this, { root, data, actions });
    root.addEventListener("pointerover", (event) => this.look(event.target));
    root.addEventListener("click", (event) => this.look(event.target));
  }

  /** Show a document, its candidates in the run's order, or ranked at `alpha`. */
  show(item, alpha) {
    this.item = item;
    this.count = item.candidates.length;
    this.similarity = decodeSimilarity(item.similarity);
    this.votes = item.candidates.map((candidate) => candidate.votes !== 0);
    this.eligible = item.candidates.map((candidate) => candidate.eligible !== 0);
    this.voters = this.votes.filter(Boolean).length;
    this.runScores = item.scores.map((score) => (score === null ? NaN : score));
    this.article = element("div", "text", item.text);
    this.article.tabIndex = 0;
    this.article.setAttribute("aria-label", "Article");
    this.seen = element("p", "seen");
    this.seen.setAttribute("aria-live", "polite");
    this.list = element("ol", "candidates");
    this.rows = item.candidates.map((candidate, index) => this.row(candidate, index));
    const poll = element("section", "poll",
      element("h3", "", `${plural(this.count, "candidate")}, ranked`),
      element("p", "columns", element("span", "", "rank"), element("span", "", "score"),
        element("span", "", "candidate")), this.list);
    const side = element("div", "side", element("h3", "", "Article"), this.article,
      this.slider(), element("h3", "", "The summary of each system"), this.summaries(), this.heat());
    this.root.replaceChildren(this.heading(), this.seen, element("div", "polls", poll, side));
    this.rank(alpha);
  }

  /** The scores at alpha, computed here; at null the run's own. */
  scores(alpha) {
    if (alpha === null) return this.runScores;
    return consensusScores(this.similarity, this.votes, this.eligible, alpha);
  }

  heading() {
    const tools = element("div", "", button("← Previous", () => this.actions.step(-1)),
      button("Next →", () => this.actions.step(1)));
    const title = element("h3", "", this.item.id);
    title.tabIndex = -1;
    return element("div", "heading", title, tools);
  }

  summaries() {
    const cards = element("div", "cards");
    for (const system of this.data.systems) {
      const summary = this.item.summaries[system];
      if (!summary) continue;
      const words = summary.parts.map((part) => part[0]).join("").split(/\s+/).filter(Boolean);
      const facts = [plural(words.length, "word")];
      if (summary.unsupported) facts.push(`${summary.unsupported} unsupported`);
      if (summary.broken) facts.push(`not whole: ${summary.broken}`);
      const name = system === this.data.kept ? `${system}, kept` : system;
      const title = element("h3", "", name, element("small", "", facts.join(", ")));
      const card = element("section", "card", title, marked(summary.parts));
      card.classList.toggle("kept", system === this.data.kept);
      card.classList.toggle("broken", Boolean(summary.broken));
      card.dataset.system = system;
      cards.append(card);
    }
    return cards;
  }

  heat() {
    this.map = new HeatMap(this.similarity, this.count);
    const scale = element("p", "legend", "0", element("span", "scale"), "1 similarity");
    return element("div", "map", element("h3", "", "Similarity of each pair of candidates"),
      this.map.svg, scale);
  }

  row(candidate, index) {
    const bar = shape("svg", { viewBox: "0 0 100 4", preserveAspectRatio: "none" });
    shape("rect", { class: "track", width: 100, height: 4 }, bar);
    shape("rect", { class: "bar", height: 4 }, bar);
    const body = element("div", "", marked(candidate.parts), element("small"));
    const row = element("li", "candidate", element("span", "rank"),
      element("span", "score", element("span"), bar), body);
    row.dataset.index = index;
    return row;
  }

  slider() {
    this.range = element("input");
    Object.assign(this.range, { type: "range", min: "0", max: "1", step: "0.0025", id: "alpha" });
    this.range.setAttribute("aria-label", "Weight of the reference in the vote");
    this.range.addEventListener("input", () => {
      this.actions.alpha(alphaOfShare(Number(this.range.value), this.voters));
    });
    this.output = element("output");
    const name = element("label", "", "Weight of the reference in the vote", this.output);
    name.htmlFor = "alpha";
    const presets = element("div", "presets");
    const values = [[null, "the run's order"], [0, "candidates only"], [1, "as one candidate"],
      [this.voters - 1, "half"], [Infinity, "reference only (BRIO)"]];
    this.presets = values.map(([alpha, text]) => {
      const node = button(text, () => this.actions.alpha(alpha));
      node.dataset.alpha = nameOf(alpha);
      presets.append(node);
      return [alpha, node];
    });
    this.hint = element("p", "hint");
    this.hint.setAttribute("aria-live", "polite");
    return element("div", "control", name, this.range, presets, this.hint);
  }

  /** Rank at `alpha`, null: in the run's order; list, scores, heat map. */
  rank(alpha) {
    const scores = this.scores(alpha);
    const order = alpha === null ? this.item.order : ranking(scores);
    const share = shareOfAlpha(alpha === null ? this.data.alpha : alpha, this.voters);
    this.range.value = String(share);
    const text = alpha === null ? "as in the run"
      : `${(100 * share).toFixed(0)} % (α = ${alphaText(alpha)})`;
    this.output.textContent = text;
    this.range.setAttribute("aria-valuetext", text);
    this.hint.textContent = alpha === null
      ? `Order of the run: ${this.data.order}. Move the slider to try other weights.`
      : `Computed in your browser from ROUGE alone. Order of the run: ${this.data.order}.`;
    for (const [value, node] of this.presets) node.setAttribute("aria-pressed", value === alpha);
    const before = new Map(this.rows.map((row) => [row, row.getBoundingClientRect().top]));
    const most = Math.max(...scores.filter((score) => score > 0), 1e-9);
    order.forEach((index, rank) => this.place(this.rows[index], index, rank, scores, most));
    this.list.replaceChildren(...order.map((index) => this.rows[index]));
    this.list.dataset.alpha = nameOf(alpha);
    this.map.arrange(order);
    this.seen.textContent = whatIsSeen(this.item, this.eligible, order[0], alpha);
    this.glide(before);
  }

  place(row, index, rank, scores, most) {
    const moved = this.item.order.indexOf(index) - rank;
    const arrow = moved > 0 ? `, up ${moved}` : `, down ${-moved}`;
    row.classList.toggle("first", rank === 0);
    row.querySelector(".rank").textContent = String(rank + 1);
    const score = scores[index];
    row.querySelector(".score span").textContent = Number.isNaN(score) ? "–" : score.toFixed(3);
    row.querySelector(".bar").setAttribute("width", (100 * Math.max(score || 0, 0)) / most);
    row.querySelector("small").textContent =
      `${this.origin(index)}${moved ? `${arrow} from the run's order` : ""}`;
  }

  /** Who wrote a candidate, and what it may do. */
  origin(index) {
    const { source } = this.item.candidates[index];
    const text = source ? `by ${source}` : `candidate no. ${index + 1}`;
    if (!this.votes[index]) return `${text}, has no vote`;
    return this.eligible[index] ? text : `${text}, votes but cannot be elected`;
  }

  /** Let rows slide from where they were, unless the reader prefers calm. */
  glide(before) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    for (const row of this.rows) {
      const shift = before.get(row) - row.getBoundingClientRect().top;
      if (!shift || !before.get(row)) continue;
      row.animate([{ transform: `translateY(${shift}px)` }, { transform: "none" }],
        { duration: 220, easing: "ease-out" });
    }
  }

  /** Show where the article says what a mark says. */
  look(target) {
    if (!(target instanceof HTMLElement) || !target.matches("mark.yes, mark.no")) return;
    const text = this.item.text;
    const wanted = target.textContent;
    this.article.replaceChildren();
    let position = 0;
    const pattern = new RegExp(wanted.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi");
    for (const hit of text.matchAll(pattern)) {
      this.article.append(text.slice(position, hit.index), element("mark", "found", hit[0]));
      position = hit.index + hit[0].length;
    }
    this.article.append(text.slice(position));
  }
}
