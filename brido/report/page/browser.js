// The list of documents, its search and filters, the address and keys.

const data = JSON.parse(document.getElementById("data").textContent);
data.alpha = data.alpha === "inf" ? Infinity : data.alpha;

function unsupported(item, system) {
  return item.summaries[system] ? item.summaries[system].unsupported : 0;
}

/** How many unsupported mentions fewer the tuned summary has than the base model's. */
function gain(item) {
  return unsupported(item, "base") - unsupported(item, data.focus);
}

const FILTERS = {
  all: ["All", () => true, null],
  improved: ["Most improved", (item) => gain(item) > 0, (a, b) => gain(b) - gain(a)],
  worse: ["Made worse", (item) => gain(item) < 0, (a, b) => gain(a) - gain(b)],
  unsupported: ["Unsupported", (item) => unsupported(item, data.focus) > 0,
    (a, b) => unsupported(b, data.focus) - unsupported(a, data.focus)],
  broken: ["Not whole", (item) => Boolean(item.summaries[data.focus]?.broken), null],
};

function searchText(item) {
  const texts = [...Object.values(item.summaries), ...item.candidates]
    .map((summary) => summary.parts.map((part) => part[0]).join(""));
  return [item.id, item.text, ...texts].join("\n").toLowerCase();
}

class Browser {
  constructor() {
    this.list = document.getElementById("list");
    this.search = document.getElementById("search");
    this.texts = new Map(data.documents.map((item) => [item, searchText(item)]));
    this.filter = "all";
    this.alpha = null;
    this.reader = new Reader(document.getElementById("reader"), data, {
      alpha: (value) => this.vote(value),
      step: (offset) => this.step(offset),
    });
    for (const [name, [label]] of Object.entries(FILTERS)) this.addFilter(name, label);
    this.search.addEventListener("input", () => this.refresh());
    window.addEventListener("hashchange", () => this.follow());
    document.addEventListener("keydown", (event) => this.key(event));
    this.refresh();
    this.follow();
  }

  addFilter(name, label) {
    const node = button(label, () => {
      this.filter = name;
      this.refresh();
    });
    node.dataset.filter = name;
    document.getElementById("filters").append(node);
  }

  /** Fill the list with what search and filter leave. */
  refresh() {
    const [, keep, compare] = FILTERS[this.filter];
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.visible = data.documents.filter(
      (item) => keep(item) && words.every((word) => this.texts.get(item).includes(word)));
    if (compare) this.visible.sort(compare);
    this.list.replaceChildren(...this.visible.map((item) => this.entry(item)));
    for (const node of document.querySelectorAll("[data-filter]")) {
      node.setAttribute("aria-pressed", node.dataset.filter === this.filter);
    }
    document.getElementById("count").textContent =
      `${this.visible.length} of ${plural(data.documents.length, "document")}. A dot for each of ` +
      `${data.systems.join(", ")}; filled: something unsupported.`;
    this.mark();
  }

  entry(item) {
    const flags = element("span", "flags");
    const wrong = data.systems.filter((system) => unsupported(item, system) > 0);
    flags.title = wrong.length ? `unsupported mention: ${wrong.join(", ")}` : "all supported";
    flags.setAttribute("role", "img");
    flags.setAttribute("aria-label", flags.title);
    for (const system of data.systems) {
      flags.append(element("span", wrong.includes(system) ? "flag wrong" : "flag"));
    }
    const link = element("a", "", element("span", "row", element("span", "", item.id), flags),
      element("span", "start", item.text.slice(0, 140)));
    link.dataset.id = item.id;
    return element("li", "", link);
  }

  address(item, alpha) {
    const parts = [`document=${encodeURIComponent(item.id)}`];
    if (alpha !== null) parts.push(`alpha=${alpha === Infinity ? "inf" : alpha}`);
    return `#${parts.join("&")}`;
  }

  /** Show what the address names; without a document, the first of the list. */
  follow() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    // A link to a section of the page.
    if (this.current && !wanted.has("document")) return;
    const named = data.documents.find((item) => item.id === wanted.get("document"));
    this.alpha = readAlpha(wanted.get("alpha"));
    const item = named || this.current || data.documents[0];
    const first = this.current === undefined;
    this.current = item;
    this.reader.show(item, this.alpha);
    this.mark();
    if (named && first) document.getElementById("documents").scrollIntoView();
  }

  /** Mark the current document in the list; every link keeps the slider's alpha. */
  mark() {
    for (const link of this.list.querySelectorAll("a")) {
      link.href = this.address({ id: link.dataset.id }, this.alpha);
      const here = this.current !== undefined && link.dataset.id === this.current.id;
      link.setAttribute("aria-current", here);
      if (here) this.list.scrollTop = link.offsetTop - this.list.offsetTop - 80;
    }
  }

  /** Re-rank at alpha, null: the run's order; the address follows without a step in the history. */
  vote(alpha) {
    this.alpha = alpha;
    this.reader.rank(alpha);
    history.replaceState(null, "", this.address(this.current, alpha));
    this.mark();
  }

  step(offset) {
    if (!this.visible.length) return;
    const here = this.visible.indexOf(this.current);
    const next = here < 0 ? 0 : (here + offset + this.visible.length) % this.visible.length;
    location.hash = this.address(this.visible[next], this.alpha);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === this.search) {
      if (event.key === "Escape") this.search.blur();
      return;
    }
    if (event.key === "j") this.step(1);
    if (event.key === "k") this.step(-1);
    if (event.key === "/") {
      event.preventDefault();
      this.search.focus();
    }
  }
}

if (data.documents.length) new Browser();
