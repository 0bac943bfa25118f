"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const el = (name, cls, text) => {
    const node = document.createElement(name);
    if (cls) node.className = cls;
    if (text !== undefined && text !== null) node.textContent = text;
    return node;
  };
  const read = (id) => JSON.parse($(id).textContent);
  const store = {
    get(key) { try { return localStorage.getItem(key); } catch { return null; } },
    set(key, value) { try { localStorage.setItem(key, value); } catch { /* a page from disk may not keep anything */ } },
  };

  // Light and dark: the reader's system decides until the button is used.
  const root = document.documentElement;
  const setTheme = (name) => { root.dataset.theme = name; store.set("radgauge-theme", name); };
  const kept = store.get("radgauge-theme");
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  const toggleTheme = () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    setTheme(dark ? "light" : "dark");
  };
  $("theme").addEventListener("click", toggleTheme);

  // Copying.
  let toastTimer = 0;
  const toast = (text) => {
    $("toast").textContent = text;
    $("toast").classList.add("on");
    clearTimeout(toastTimer);
    toastTimer = setTimeout(() => $("toast").classList.remove("on"), 1600);
  };
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = el("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    toast("Copied");
  };
  const tables = read("tables");
  const pictures = read("pictures");
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy],[data-copy-text]");
    if (!button) return;
    if (button.dataset.copyText) copy($(button.dataset.copyText).innerText.trim());
    else copy(tables[button.dataset.copy][button.dataset.form]);
  });

  // Which section is being read.
  const links = new Map([...document.querySelectorAll("nav a")].map((a) => [a.hash.slice(1), a]));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.classList.remove("here");
      links.get(entry.target.id)?.classList.add("here");
    }
  }, { rootMargin: "-30% 0px -60% 0px" });
  for (const id of links.keys()) if ($(id)) seen.observe($(id));

  // The cases come compressed; a browser without DecompressionStream is older than 2023.
  const unpack = async (id) => {
    const bytes = Uint8Array.from(atob($(id).textContent.trim()), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  };
  const fail = (error) => {
    $("count").textContent = "This browser cannot open the cases: they need DecompressionStream (any browser since 2023).";
    throw error;
  };
  unpack("data").then(browse, fail);

  function browse(data) {
  // One object per case, in the order of the file.
  const KINDS = { matched: "in both", missing: "missed", added: "added", changed: "wrong attribute", contradicted: "contradicted", info: "note" };
  const heads = data.judges.map((judge, j) => ({ judge: j, name: judge.l, up: judge.u[0] }));
  const cases = [];
  const byStudy = new Map();
  for (const study of data.studies) {
    for (const packed of study.c) {
      const [system, text, values, places, reasons, notes, human, own] = packed;
      const known = places.filter((p) => p !== null);
      const item = {
        n: cases.length, study, system, text, values, places, reasons, notes, human,
        refs: own ?? study.r,
        gap: known.length > 1 ? Math.max(...known) - Math.min(...known) : -1,
        words: [study.i, data.systems[system], text ?? "", ...(own ?? study.r), ...Object.values(study.m)].join("\n").toLowerCase(),
      };
      cases.push(item);
      if (!byStudy.has(study.i)) byStudy.set(study.i, []);
      byStudy.get(study.i).push(item);
    }
  }
  if (!cases.length) return;

  const noteNames = [...new Set(cases.flatMap((item) => Object.keys(item.notes)))];
  const preferred = ["errors", "findings"].find((name) => noteNames.includes(name)) ?? noteNames[0] ?? "";
  const FILTERS = ["system", "shows", "kind", "weight", "side"];
  const state = { query: "", system: "", shows: "", kind: "", weight: "", side: "", finding: "", order: "file", marks: preferred, page: 0, current: cases[0], found: cases };
  const PAGE = 50;
  // The judge that counts significant errors, and its columns.
  const danger = data.judges.findIndex((judge) => judge.c.includes("errors_significant"));
  const counted = (item, name) => item.values[danger][data.judges[danger].c.indexOf(name)];
  const severity = (item) => {
    const errors = danger < 0 ? null : counted(item, "errors_significant");
    return errors === null ? null : errors + counted(item, "errors_total") / 1000;
  };
  state.order = danger >= 0 ? "danger" : heads.length > 1 ? "gap" : "file";

  const option = (select, value, text) => { const o = el("option", "", text); o.value = value; select.append(o); };
  option($("system"), "", "all");
  data.systems.forEach((name, s) => option($("system"), String(s), name));
  option($("shows"), "", "all cases");
  data.kinds.forEach((kind, k) => {
    if (kind !== "info" && cases.some((item) => has(item, k))) option($("shows"), `kind:${k}`, KINDS[kind]);
  });
  option($("shows"), "unjudged", "not judged");
  for (const head of heads) option($("shows"), `low:${head.judge}`, `worst tenth by ${head.name}`);
  // Filters by error speak of the judge's own notes; where no judge counts errors they are not shown.
  const flawed = cases.flatMap((item) => (item.notes[preferred] ?? []).filter((note) => note[5]));
  option($("kind"), "", "any");
  for (const [key, title] of data.errors) if (flawed.some((note) => note[5] === key)) option($("kind"), key, title);
  for (const [value, text] of [["", "any"], ["1", "significant"], ["0", "not significant"]]) option($("weight"), value, text);
  for (const side of ["", "left", "right", "bilateral"]) option($("side"), side, side || "any");
  for (const name of [...new Set(flawed.map((note) => note[7]).filter(Boolean))].sort()) option($("findings-list"), name, name);
  if (!flawed.length) for (const id of ["kind", "weight", "side", "finding"]) $(id).closest("label").hidden = true;
  if (danger >= 0) option($("order"), "danger", "most significant errors first");
  option($("order"), "file", "as in the file");
  if (heads.length > 1) option($("order"), "gap", "metrics disagree most");
  for (const head of heads) {
    option($("order"), `worst:${head.judge}`, `${head.name}, worst first`);
    option($("order"), `best:${head.judge}`, `${head.name}, best first`);
  }
  for (const name of noteNames) option($("marks"), name, name);
  option($("marks"), "", "none");
  $("marks").value = state.marks;
  $("order").value = state.order;

  function has(item, kind) {
    const notes = item.notes[state?.marks ?? preferred] ?? item.notes[preferred] ?? [];
    return notes.some((note) => note[0] === kind);
  }
  const fits = (note) => note[5]
    && (state.kind === "" || note[5] === state.kind)
    && (state.weight === "" || note[6] === Number(state.weight))
    && (state.side === "" || note[8].split(" ").includes(state.side))
    && note[7].includes(state.finding);
  const asked = () => state.kind || state.weight || state.side || state.finding;
  const show = (value) => value === null ? "–" : Math.abs(value) >= 1000 ? value.toFixed(1) : value.toFixed(3);

  function select() {
    const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
    const [what, which] = state.shows.split(":");
    let found = cases.filter((item) => {
      if (state.system !== "" && item.system !== Number(state.system)) return false;
      if (asked() && !(item.notes[preferred] ?? []).some(fits)) return false;
      if (what === "kind" && !has(item, Number(which))) return false;
      if (what === "unjudged" && !Object.keys(item.reasons).length) return false;
      if (what === "low" && !(item.places[which] !== null && item.places[which] <= 10)) return false;
      return words.every((word) => item.words.includes(word));
    });
    const [order, judge] = state.order.split(":");
    if (order !== "file") {
      // By the value itself, not by its rounded percentile; cases without one come last.
      const sign = order === "gap" || order === "danger" ? 1 : (order === "best" ? 1 : -1) * (heads[judge].up ? 1 : -1);
      const value = (item) => order === "danger" ? severity(item) : order === "gap" ? item.gap : item.values[judge][0];
      const key = (item) => { const v = value(item); return v === null ? -Infinity : v * sign; };
      const sortable = found.map((item) => [key(item), item]);
      sortable.sort((a, b) => (a[0] === b[0] ? a[1].n - b[1].n : b[0] > a[0] ? 1 : -1));
      found = sortable.map((pair) => pair[1]);
    }
    state.found = found;
    state.page = Math.max(0, Math.floor(found.indexOf(state.current) / PAGE));
    drawList();
  }

  const systemMark = (s) => {
    const mark = document.querySelector(`.hero .key[data-system="${s}"] svg`);
    return mark ? mark.cloneNode(true) : el("span");
  };
  function drawList() {
    const total = state.found.length;
    $("count").replaceChildren(total === cases.length ? `${total} cases` : `${total} of ${cases.length} cases`);
    const pages = Math.max(1, Math.ceil(total / PAGE));
    state.page = Math.min(state.page, pages - 1);
    $("page").textContent = `page ${state.page + 1} of ${pages}`;
    $("back").disabled = state.page === 0;
    $("next").disabled = state.page >= pages - 1;
    const [order, judge] = state.order.split(":");
    const head = heads[judge] ?? heads[0];
    $("value").textContent = order === "danger" ? "significant errors" : order === "gap" ? "percentile gap" : head.name;
    const rows = state.found.slice(state.page * PAGE, (state.page + 1) * PAGE).map((item) => {
      const li = el("li");
      li.dataset.n = item.n;
      const errors = danger < 0 ? null : counted(item, "errors_significant");
      const shown = order === "danger" ? (errors === null ? "–" : String(errors)) : order === "gap" ? String(item.gap) : show(item.values[head.judge][0]);
      li.append(systemMark(item.system), el("span", "id", item.study.i), el("span", "", shown));
      li.append(el("span", "sub", data.systems[item.system]));
      return li;
    });
    if (!rows.length) rows.push(el("li", "", "No case fits."));
    $("list").replaceChildren(...rows);
    markCurrent();
  }
  function markCurrent() {
    for (const li of $("list").children) {
      const here = Number(li.dataset.n) === state.current.n && li.dataset.n !== undefined;
      if (here) li.setAttribute("aria-current", "true"); else li.removeAttribute("aria-current");
      if (here) {
        const list = $("list");
        if (li.offsetTop - list.offsetTop < list.scrollTop) list.scrollTop = li.offsetTop - list.offsetTop;
        else if (li.offsetTop - list.offsetTop + li.offsetHeight > list.scrollTop + list.clientHeight) {
          list.scrollTop = li.offsetTop - list.offsetTop + li.offsetHeight - list.clientHeight;
        }
      }
    }
  }

  // Highlights: what stands out most wins where spans overlap; text only ever becomes text nodes.
  const RANK = [1, 3, 3, 4, 5, 0];
  function paint(target, text, notes, side) {
    const owner = new Int32Array(text.length).fill(-1);
    notes.forEach((note, n) => {
      for (let i = 0; i < note[side].length; i += 2) {
        for (let c = note[side][i]; c < Math.min(note[side][i + 1], text.length); c++) {
          if (owner[c] < 0 || RANK[note[0]] > RANK[notes[owner[c]][0]]) owner[c] = n;
        }
      }
    });
    let start = 0;
    for (let c = 1; c <= text.length; c++) {
      if (c < text.length && owner[c] === owner[start]) continue;
      const piece = text.slice(start, c);
      if (owner[start] < 0) target.append(piece);
      else {
        const note = notes[owner[start]];
        const mark = el("mark", `k${note[0]}`, piece);
        mark.dataset.note = owner[start];
        mark.title = note[1];
        target.append(mark);
      }
      start = c;
    }
  }
  const hot = (n, on) => {
    for (const mark of $("detail").querySelectorAll(`.text mark[data-note="${n}"]`)) mark.classList.toggle("hot", on);
  };

  function draw() {
    const item = state.current, detail = $("detail");
    const out = [];
    const title = el("h3", "", item.study.i);
    out.push(title);
    const meta = el("div", "meta");
    for (const [name, value] of Object.entries(item.study.m)) meta.append(el("span", "", `${name}: ${value}`));
    out.push(meta);
    const tabs = el("div", "tabs");
    for (const other of byStudy.get(item.study.i)) {
      const button = el("button");
      button.type = "button";
      button.dataset.goto = other.n;
      button.setAttribute("aria-pressed", String(other === item));
      button.append(systemMark(other.system), data.systems[other.system]);
      tabs.append(button);
    }
    out.push(tabs);
    if (pictures[item.study.i]) {
      const frame = el("div", "pictures");
      radgaugeViewer.mount(frame, pictures[item.study.i]);
      out.push(frame);
    }
    const moved = Object.values(item.notes).flat().find((note) => note[9]);
    if (moved && item.text !== null) {
      const line = el("p", "moved");
      line.append(el("b", "", "Moved the score most: "), el("q", "", item.text.slice(moved[3][0], moved[3][1]).trim()), ` (${moved[1]})`);
      out.push(line);
    }
    const notes = item.notes[state.marks] ?? [];
    const which = notes.length ? notes[0][4] : 0;
    if (item.text !== null) {
      const texts = el("div", "texts");
      const reference = el("div", "text"), candidate = el("div", "text");
      reference.append(el("h4", "", item.refs.length > 1 ? `Reference ${which + 1} of ${item.refs.length}` : "Reference"));
      const left = el("p"), right = el("p");
      if (item.refs.length) paint(left, item.refs[which], notes.filter((note) => note[4] === which), 2);
      else left.append(el("span", "none", "no reference"));
      candidate.append(el("h4", "", `Candidate by ${data.systems[item.system]}`));
      if (item.text.trim()) paint(right, item.text, notes, 3);
      else right.append(el("span", "none", "empty"));
      reference.append(left);
      candidate.append(right);
      item.refs.forEach((text, r) => {
        if (r === which) return;
        const more = el("details");
        more.append(el("summary", "", `Reference ${r + 1}`), el("p", "", text));
        reference.append(more);
      });
      texts.append(reference, candidate);
      out.push(texts);
      const used = [...new Set(notes.map((note) => note[0]))].sort();
      if (used.length) {
        const legend = el("div", "kinds");
        for (const k of used) {
          const span = el("span");
          span.append(el("mark", `k${k}`, KINDS[data.kinds[k]]), ` ${notes.filter((note) => note[0] === k).length}`);
          legend.append(span);
        }
        legend.append(el("span", "", `marked by ${state.marks}`));
        out.push(legend);
      }
    }
    if (item.human.length) {
      const human = el("div", "human");
      human.append(el("b", "", "Radiologists"));
      for (const [what, mean, singles] of item.human) human.append(el("span", "", `${what} ${mean}${singles ? ` (${singles})` : ""}`));
      out.push(human);
    }
    const scores = el("div", "scores");
    if (item.notes.findings) scores.append(findings(item));
    data.judges.forEach((judge, j) => scores.append(scoreRow(item, judge, j)));
    out.push(scores);
    detail.replaceChildren(...out);
    markCurrent();
  }
  function findings(item) {
    const row = el("div", "score");
    row.append(el("b", "", "findings"), el("span"), el("span", "small", "read by the embedded reader"));
    const below = el("div", "more");
    below.append(noteList(item.notes.findings, "findings"));
    row.append(below);
    return row;
  }
  function noteList(notes, name) {
    const list = el("ul", "notes");
    notes.map((note, n) => [note, n]).sort((a, b) => RANK[b[0][0]] - RANK[a[0][0]]).forEach(([note, n]) => {
      const li = el("li");
      const tag = el("span", "tag");
      tag.append(el("mark", `k${note[0]}`, KINDS[data.kinds[note[0]]]));
      li.append(tag, el("span", "", note[1]));
      if (name === state.marks) {
        li.addEventListener("mouseenter", () => hot(n, true));
        li.addEventListener("mouseleave", () => hot(n, false));
      }
      list.append(li);
    });
    const more = el("details");
    more.open = name === state.marks;
    more.append(el("summary", "", notes.length === 1 ? "1 note" : `${notes.length} notes`), list);
    return more;
  }
  function scoreRow(item, judge, j) {
    const row = el("div", "score");
    const label = el("span", "", `${judge.l} ${judge.u[0] ? "↑" : "↓"}`);
    label.title = judge.c[0];
    row.append(label, el("span", "v", show(item.values[j][0])));
    if (item.reasons[j] !== undefined) {
      const why = el("span", "small", `not judged: ${data.reasons[item.reasons[j]]}`);
      row.append(why);
      return row;
    }
    const place = item.places[j];
    if (place !== null) {
      const track = el("span", "track");
      const dot = el("b");
      dot.style.left = `${Math.min(Math.max(place, 2), 98)}%`;
      track.title = `better than ${place} % of all cases`;
      track.append(el("i"), dot, el("span", "", `better than ${place} % of all cases`));
      row.append(track);
    }
    const below = el("div", "more");
    if (item.notes[judge.n]) below.append(noteList(item.notes[judge.n], judge.n));
    if (judge.c.length > 1) {
      const more = el("details");
      more.append(el("summary", "", `${judge.c.length} outputs`));
      // Categories without an error, and outputs without a value, only take room.
      const told = judge.c.map((name, c) => [name, item.values[j][c]]).filter(([, value], c) => c === 0 || (value !== 0 && value !== null));
      more.append(el("span", "small", told.map(([name, value]) => `${name} ${show(value)}`).join(" · ")));
      const folded = judge.c.length - told.length;
      if (folded) more.append(el("span", "small", ` · ${folded} more are 0 or have no value`));
      below.append(more);
    }
    if (below.children.length) row.append(below);
    return row;
  }

  // The address names the case, so that a link to it can be sent.
  const address = (item) => `#case=${encodeURIComponent(item.study.i)}&system=${encodeURIComponent(data.systems[item.system])}`;
  const addressed = () => {
    if (!location.hash.startsWith("#case=")) return undefined;
    const wanted = new URLSearchParams(location.hash.slice(1));
    return cases.find((item) => item.study.i === wanted.get("case") && data.systems[item.system] === (wanted.get("system") ?? data.systems[item.system]));
  };
  const narrow = matchMedia("(max-width: 860px)");
  function go(item, { focus = false, scroll = false, keep = true } = {}) {
    if (!item) return;
    state.current = item;
    document.body.dataset.case = item.study.i;
    if (keep) { try { history.replaceState(null, "", address(item)); } catch { /* some viewers forbid it */ } }
    const place = state.found.indexOf(item);
    if (place >= 0 && Math.floor(place / PAGE) !== state.page) {
      state.page = Math.floor(place / PAGE);
      drawList();
    }
    draw();
    if (focus) $("detail").focus({ preventScroll: true });
    if (scroll) $("cases").scrollIntoView();
  }
  function step(by) {
    const place = state.found.indexOf(state.current);
    go(state.found[place < 0 ? 0 : Math.min(Math.max(place + by, 0), state.found.length - 1)]);
  }
  function sibling(by) {
    const all = byStudy.get(state.current.study.i);
    go(all[(all.indexOf(state.current) + by + all.length) % all.length]);
  }
  const refresh = (key, value) => {
    state[key] = value;
    select();
    if (state.found.length && !state.found.includes(state.current)) { state.page = 0; drawList(); go(state.found[0]); } else draw();
  };

  $("search").addEventListener("input", (event) => refresh("query", event.target.value));
  $("finding").addEventListener("input", (event) => refresh("finding", event.target.value.trim().toLowerCase()));
  for (const key of [...FILTERS, "order", "marks"]) {
    $(key).addEventListener("change", (event) => {
      refresh(key, event.target.value);
      if (key === "order" && state.found.length) { state.page = 0; drawList(); go(state.found[0]); }
    });
  }
  $("back").addEventListener("click", () => { state.page -= 1; drawList(); $("list").scrollTop = 0; });
  $("next").addEventListener("click", () => { state.page += 1; drawList(); $("list").scrollTop = 0; });
  $("list").addEventListener("click", (event) => {
    const li = event.target.closest("li[data-n]");
    if (!li) return;
    go(cases[li.dataset.n]);
    if (narrow.matches) $("detail").scrollIntoView({ block: "start" });
  });
  $("detail").addEventListener("click", (event) => {
    const button = event.target.closest("[data-goto]");
    if (button) go(cases[button.dataset.goto], { focus: true });
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-case]");
    if (!link) return;
    event.preventDefault();
    open(cases[link.dataset.case]);
  });
  function open(item) {
    if (!item) return;
    if (!state.found.includes(item)) {
      for (const key of ["query", "finding", ...FILTERS]) { state[key] = ""; $(key === "query" ? "search" : key).value = ""; }
      select();
    }
    go(item, { focus: true, scroll: true });
  }
  addEventListener("hashchange", () => open(addressed()));
  // The cases that the filters show, in their order, as a table for spreadsheets; none of its cells runs as a formula.
  $("export").addEventListener("click", () => {
    const cell = (value) => `"${String(value).replace(/^(?=[=+\-@\t\r'])/, "'").replaceAll('"', '""')}"`;
    const wrong = (item) => (item.notes[preferred] ?? []).filter((note) => note[5])
      .sort((a, b) => b[6] - a[6]).map((note) => note[1]).join("; ");
    const rows = state.found.map((item) => [item.study.i, data.systems[item.system],
      danger < 0 ? "" : counted(item, "errors_significant") ?? "", wrong(item), item.refs.join("\n\n"), item.text ?? ""]);
    const lines = [["id", "system", "significant errors", "errors", "reference", "candidate"], ...rows];
    const link = el("a");
    link.href = URL.createObjectURL(new Blob(["\ufeff", ...lines.map((row) => `${row.map(cell).join(",")}\r\n`)], { type: "text/csv" }));
    link.download = "cases.csv";
    link.click();
    URL.revokeObjectURL(link.href);
  });
  const help = () => ($("keys").open ? $("keys").close() : $("keys").showModal());
  $("help").addEventListener("click", help);

  // Keys work where nothing else wants them; arrows only while the browser is on the screen.
  const inSight = () => { const box = $("browser").getBoundingClientRect(); return box.top < innerHeight * 0.7 && box.bottom > innerHeight * 0.2; };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // Left to the browser, Escape closes the help a moment later; until then the next key would be lost.
    if (event.key === "Escape" && $("keys").open) {
      event.preventDefault();
      $("keys").close();
      return;
    }
    if (event.key === "Escape" && event.target === $("search")) {
      event.preventDefault();
      $("search").value = "";
      $("search").blur();
      refresh("query", "");
      return;
    }
    if (event.target.closest("input,select,textarea,dialog[open]")) return;
    const keys = {
      j: () => step(1), k: () => step(-1), l: () => sibling(1), h: () => sibling(-1),
      "/": () => { $("cases").scrollIntoView(); $("search").focus({ preventScroll: true }); $("search").select(); },
      "?": help, t: toggleTheme,
      m: () => { const all = [...noteNames, ""]; state.marks = all[(all.indexOf(state.marks) + 1) % all.length]; $("marks").value = state.marks; draw(); },
    };
    if (inSight()) Object.assign(keys, { ArrowDown: keys.j, ArrowUp: keys.k, ArrowRight: keys.l, ArrowLeft: keys.h });
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });

  select();
  state.current = state.found[0];
  state.page = 0;
  drawList();
  draw();
  open(addressed());
  document.body.dataset.ready = "yes";
  }
})();
