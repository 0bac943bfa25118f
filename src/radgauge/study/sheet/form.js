"use strict";
(() => {
  const content = JSON.parse(document.getElementById("content").textContent);
  const design = content.design;
  const page = document.getElementById("page");
  const cases = content.cases;
  const kept = `radgauge ${content.head.study} ${content.head.person}`;
  const answers = {};
  let at = -1; // -1: instructions
  let unsaved = false;
  let since = 0;

  const make = (tag, settings = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(settings)) {
      if (key === "on") for (const [name, act] of Object.entries(value)) node.addEventListener(name, act);
      else if (key in node && key !== "list") node[key] = value;
      else node.setAttribute(key, value);
    }
    node.append(...children.filter((each) => each !== null && each !== undefined));
    return node;
  };

  for (const each of cases) {
    const state = each.state;
    answers[each.key] = {
      version: state.version, answers: structuredClone(state.answers), cannot_judge: { ...state.cannot_judge },
      submitted: state.submitted, seconds: state.seconds,
    };
  }

  const file = () => ({ ...content.head, saved: new Date().toISOString(), cases: answers });

  // The browser's own memory is a second net; the file that the rater saves is what counts.
  const remember = () => {
    unsaved = true;
    try { localStorage.setItem(kept, JSON.stringify(file())); } catch { /* a browser may forbid it */ }
    status();
  };

  const take = (text) => {
    const found = JSON.parse(text);
    if (found.seal !== content.head.seal) throw new Error("this file belongs to another sheet");
    for (const [key, value] of Object.entries(found.cases)) {
      if (key in answers && value.version === answers[key].version) answers[key] = value;
    }
  };

  try {
    const before = localStorage.getItem(kept);
    if (before) take(before);
  } catch { /* nothing that can be used */ }

  const save = () => {
    clock();
    const blob = new Blob([JSON.stringify(file(), null, 1)], { type: "application/json" });
    const link = make("a", { href: URL.createObjectURL(blob), download: `answers-${content.head.person}.json` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    unsaved = false;
    status();
  };

  const clock = () => {
    if (at >= 0 && since && !document.hidden) {
      answers[cases[at].key].seconds += Math.min((Date.now() - since) / 1000, 600);
    }
    since = Date.now();
  };

  const mine = (field, label, unit) => {
    let found = answers[cases[at].key].answers[label];
    found = found && found[field.key];
    return unit === undefined || unit === null ? found : found && found[unit];
  };

  const put = (field, label, unit, part, value) => {
    const path = [label, field.key];
    if (unit !== undefined && unit !== null) path.push(String(unit));
    if (part) path.push(part);
    let place = answers[cases[at].key].answers;
    for (const step of path.slice(0, -1)) place = place[step] ??= {};
    if (value === null) delete place[path.at(-1)];
    else place[path.at(-1)] = value;
    answers[cases[at].key].submitted = false;
    toTwins(label);
    remember();
  };

  // Identical candidates are judged once, where the design wants equal answers: the first is shown for all of them.
  const once = design.fields.some((field) => field.identical) && !design.fields.some((field) => field.candidates);
  const twins = (label) => {
    const text = (name) => cases[at].candidates.find((each) => each.label === name).text.trim();
    return once ? cases[at].candidates.map((each) => each.label).filter((name) => text(name) === text(label)) : [label];
  };
  const toTwins = (label) => {
    if (!label) return;
    const said = answers[cases[at].key];
    for (const twin of twins(label).slice(1)) {
      if (said.answers[label]) said.answers[twin] = structuredClone(said.answers[label]);
      if (label in said.cannot_judge) said.cannot_judge[twin] = said.cannot_judge[label];
      else delete said.cannot_judge[twin];
    }
  };

  const levels = (field, category) => {
    const found = field.categories.find((each) => each.key === category);
    return found && found.significance.length ? found.significance : field.significance;
  };

  const counted = (field, label) => {
    const found = { ...(mine(field, label) || {}) };
    const marks = {};
    for (const other of design.fields) {
      if (other.counts_into !== field.key) continue;
      for (const entry of mine(other, label) || []) {
        const part = entry.significance ? `${entry.category}/${entry.significance}` : entry.category;
        marks[part] = (marks[part] || 0) + 1;
      }
    }
    for (const [part, number] of Object.entries(marks)) found[part] = Math.max(found[part] || 0, number);
    return found;
  };

  const problems = () => {
    const one = cases[at];
    const said = answers[one.key];
    if ("" in said.cannot_judge) return [];
    const found = [];
    const judged = one.candidates.filter((each) => !(each.label in said.cannot_judge));
    for (const field of design.fields) {
      const look = (label, unit, where) => {
        const answer = mine(field, label, unit);
        const open = answer === undefined || (Array.isArray(answer) && !answer.length);
        if (field.kind === "choice" && answer && field.reason === "required" && !(answer.reason || "").trim()) {
          found.push(`${where}${field.title} Give a reason.`);
        } else if (field.explicit && !Object.keys(answer ?? {}).length && !Object.values(counted(field, label)).some(Boolean)) {
          found.push(`${where}${field.title} Count them, or tick “no errors”.`);
        } else if (field.required && open && field.kind !== "counts") found.push(`${where}${field.title} Not answered yet.`);
      };
      if (field.per === "case") { if (judged.length) look("", null, ""); continue; }
      for (const each of judged) {
        if (field.per === "candidate") look(each.label, null, `Candidate ${each.label}: `);
        else each.sentences.forEach((_, n) => look(each.label, n, `Candidate ${each.label}, sentence ${n + 1}: `));
      }
      if (field.identical && field.per === "candidate") {
        const first = new Map();
        for (const each of judged) {
          const text = each.text.trim();
          if (!first.has(text)) { first.set(text, each.label); continue; }
          const other = first.get(text);
          const get = (label) => JSON.stringify(field.kind === "counts"
            ? Object.entries(counted(field, label)).filter(([, n]) => n).sort() : mine(field, label) ?? null);
          if (get(other) !== get(each.label)) {
            found.push(`Candidates ${other} and ${each.label} are identical: their answers must be equal.`);
          }
        }
      }
    }
    return found;
  };

  const option = (name, value, title, chosen, act) => make("label", { className: "option" },
    make("input", { type: "radio", name, value, checked: chosen, on: { change: act } }), title);

  const drawCounts = (field, label, unit) => {
    const given = mine(field, label, unit) || {};
    const plain = levels(field, field.categories[0].key);
    const head = make("tr", {}, make("th", {}, "Category"),
      ...(plain.length ? plain : [{ title: "Number" }]).map((each) => make("th", { className: "number" }, each.title)));
    const rows = field.categories.map((category) => make("tr", {}, make("th", { scope: "row" }, category.title),
      ...(plain.length ? plain : [null]).map((level) => {
        const part = level ? `${category.key}/${level.key}` : category.key;
        return make("td", { className: "number" }, make("input", {
          type: "number", min: 0, max: field.maximum, step: 1, value: given[part] ?? "", placeholder: "0",
          "aria-label": `${label ? `Candidate ${label}, ` : ""}${category.title}${level ? `, ${level.title}` : ""}`,
          on: { change: (event) => {
            const value = event.target.value.trim();
            if (value === "") put(field, label, unit, part, null);
            else if (event.target.validity.valid) put(field, label, unit, part, Number(value));
            else event.target.reportValidity();
          } },
        }));
      })));
    const table = make("table", {}, head, ...rows);
    if (!field.explicit) return table;
    const first = `${field.categories[0].key}${plain.length ? `/${plain[0].key}` : ""}`;
    const none = Object.keys(given).length > 0 && !Object.values(given).some(Boolean);
    return make("div", {}, make("label", { className: "option" }, make("input", { type: "checkbox", checked: none,
      "aria-label": `${label ? `Candidate ${label}, ` : ""}no errors`, on: { change: (event) => {
        for (const part of Object.keys(mine(field, label, unit) || {})) put(field, label, unit, part, null);
        if (event.target.checked) put(field, label, unit, first, 0);
        for (const input of table.querySelectorAll("input")) input.value = "";
      } } }), "No errors"), table);
  };

  const drawNumber = (field, label, unit) => make("input", {
    type: "number", min: field.minimum, max: field.maximum, step: field.kind === "rating" ? field.step : 1,
    value: mine(field, label, unit) ?? "", "aria-label": field.title,
    on: { change: (event) => {
      const value = event.target.value.trim();
      if (value === "") put(field, label, unit, null, null);
      else if (event.target.validity.valid) put(field, label, unit, null, Number(value));
      else event.target.reportValidity();
    } },
  });

  const drawRating = (field, label, unit) => {
    const steps = Math.round((field.maximum - field.minimum) / field.step) + 1;
    if (steps > 11) return drawNumber(field, label, unit);
    const anchors = new Map(field.anchors);
    const name = `${field.key} ${label} ${unit}`;
    return make("div", {}, ...Array.from({ length: steps }, (_, n) => {
      const value = field.minimum + n * field.step;
      const title = anchors.has(value) ? `${value} (${anchors.get(value)})` : String(value);
      return option(name, value, title, mine(field, label, unit) === value, () => put(field, label, unit, null, value));
    }));
  };

  const drawChoice = (field, label, unit) => {
    const own = field.candidates ? cases[at].candidates.map((each) => ({ key: each.label, title: `Candidate ${each.label}` })) : [];
    const name = `${field.key} ${label} ${unit}`;
    const now = mine(field, label, unit);
    const change = (value) => {
      const next = { ...(mine(field, label, unit) || {}), ...value };
      if (!next.reason) delete next.reason;
      put(field, label, unit, null, next);
    };
    const parts = [...own, ...field.options].map((each) => option(name, each.key, each.title,
      now && now.choice === each.key, () => change({ choice: each.key })));
    if (field.reason !== "none") {
      parts.push(make("label", {}, "Why? ", make("input", { type: "text", maxLength: 4000, value: (now && now.reason) || "",
        on: { change: (event) => change({ reason: event.target.value }) } })));
    }
    return make("div", {}, ...parts);
  };

  const choose = (title, options, first) => make("select", { "aria-label": title },
    make("option", { value: "" }, first), ...options.map((each) => make("option", { value: each.key }, each.title)));

  // Places are code points, as Python counts them; the browser counts UTF-16 units.
  const points = (text, units) => Array.from(text.slice(0, units)).length;
  const passage = (text, start, end) => Array.from(text).slice(start, end).join("");

  const selected = (node, text) => {
    const selection = window.getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    if (!node.contains(range.startContainer) || !node.contains(range.endContainer)) return null;
    const before = document.createRange();
    before.selectNodeContents(node);
    before.setEnd(range.startContainer, range.startOffset);
    const start = before.toString().length;
    const whole = range.toString();
    const lead = whole.length - whole.trimStart().length;
    const from = points(text, start + lead);
    const length = Array.from(whole.trim()).length;
    return length ? { start: from, end: from + length } : null;
  };

  const drawList = (field, label, texts) => {
    const box = make("div");
    const one = cases[at];
    const candidate = one.candidates.find((each) => each.label === label);
    const missing = field.kind === "missing";
    const source = missing ? one.reference : candidate.text;
    const sentences = missing ? one.reference_sentences : candidate.sentences;
    const draw = () => {
      const given = mine(field, label) || [];
      const category = field.categories.length ? choose("Category", field.categories, "category") : null;
      const level = make("span");
      const attribute = make("span");
      const refresh = () => {
        const key = category ? category.value : "";
        const found = field.categories.find((each) => each.key === key);
        const options = levels(field, key);
        level.replaceChildren(...(options.length ? [choose("Significance", options, "significance")] : []));
        attribute.replaceChildren(...(found && found.attributes.length ? [choose("What is wrong", found.attributes, "what is wrong")] : []));
      };
      if (category) category.addEventListener("change", refresh);
      refresh();
      const bySentence = field.on === "sentence" || missing;
      const spot = choose("Sentence", sentences.map(([start, end], n) => ({ key: String(n), title: `${n + 1}. ${passage(source, start, end)}` })),
        missing ? "sentence of the reference" : bySentence ? "finding" : "the words selected, or a sentence");
      const words = missing ? make("input", { type: "text", maxLength: 4000, placeholder: "or write the finding", "aria-label": "Missing finding" }) : null;
      const note = make("span", { className: "wrong", role: "status" });
      const add = () => {
        const entry = {};
        if (category) {
          if (!category.value) { note.textContent = "Choose a category."; return; }
          entry.category = category.value;
        }
        const chosen = level.querySelector("select");
        if (chosen) {
          if (!chosen.value) { note.textContent = "Choose a significance."; return; }
          entry.significance = chosen.value;
        }
        const what = attribute.querySelector("select");
        if (what) {
          if (!what.value) { note.textContent = "Choose what is wrong."; return; }
          entry.attribute = what.value;
        }
        if (spot.value !== "") {
          const n = Number(spot.value);
          Object.assign(entry, bySentence ? { unit: n } : {}, { start: sentences[n][0], end: sentences[n][1] });
        } else if (!bySentence) {
          const found = selected(texts.get(label), source);
          if (!found) { note.textContent = "Select words in the candidate, or choose a sentence."; return; }
          Object.assign(entry, found);
        } else if (missing && words.value.trim()) entry.text = words.value.trim();
        else { note.textContent = missing ? "Choose a sentence, or write the finding." : "Choose the finding."; return; }
        put(field, label, null, null, [...given, entry]);
        draw();
        marks(label, texts);
      };
      const rows = given.map((entry, n) => {
        const quoted = entry.text || passage(source, entry.start, entry.end);
        const titles = [field.categories.find((each) => each.key === entry.category), levels(field, entry.category || "").find((each) => each.key === entry.significance)];
        const said = [...titles.filter(Boolean).map((each) => each.title), entry.attribute].filter(Boolean).join(", ");
        return make("li", {}, make("span", {}, `“${quoted}”: ${said}`), make("button", { type: "button", "aria-label": `Remove: ${quoted}`, on: { click: () => {
          const left = given.filter((_, place) => place !== n);
          put(field, label, null, null, left.length ? left : null);
          draw();
          marks(label, texts);
        } } }, "Remove"));
      });
      const button = make("button", { type: "button", on: { mousedown: (event) => event.preventDefault(), click: add } }, "Add");
      box.replaceChildren(make("ul", { className: "entries" }, ...rows),
        make("div", { className: "adding" }, ...[category, level, attribute, spot, words, button, note].filter(Boolean)));
    };
    draw();
    return box;
  };

  const marks = (label, texts) => {
    const candidate = cases[at].candidates.find((each) => each.label === label);
    const letters = Array.from(candidate.text);
    const on = new Array(letters.length).fill(false);
    for (const field of design.fields) {
      if (field.kind === "marks") for (const entry of mine(field, label) || []) on.fill(true, entry.start, entry.end);
    }
    const parts = [];
    for (let start = 0; start < letters.length;) {
      let end = start;
      while (end < letters.length && on[end] === on[start]) end += 1;
      const text = letters.slice(start, end).join("");
      parts.push(on[start] ? make("mark", {}, text) : text);
      start = end;
    }
    texts.get(label).replaceChildren(...(parts.length ? parts : [make("span", { className: "quiet" }, "(empty)")]));
  };

  const ask = (field, label, texts) => {
    const draw = { counts: drawCounts, number: drawNumber, rating: drawRating, choice: drawChoice }[field.kind];
    const help = field.help ? make("p", { className: "quiet" }, field.help) : null;
    let body;
    if (field.kind === "marks" || field.kind === "missing") body = drawList(field, label, texts);
    else if (field.per === "sentence") {
      const candidate = cases[at].candidates.find((each) => each.label === label);
      body = make("div", {}, ...candidate.sentences.map(([start, end], n) => make("div", {},
        make("p", {}, `${n + 1}. ${passage(candidate.text, start, end)}`), draw(field, label, n))));
    } else body = draw(field, label, null);
    return make("fieldset", {}, make("legend", {}, field.title), help, body);
  };

  const unable = (label, what) => make("label", { className: "quiet" }, `Cannot judge ${what}? Say why: `,
    make("input", { type: "text", maxLength: 4000, value: answers[cases[at].key].cannot_judge[label] || "",
      "aria-label": `Why ${what} cannot be judged`, on: { change: (event) => {
        const said = answers[cases[at].key];
        if (event.target.value.trim()) said.cannot_judge[label] = event.target.value;
        else delete said.cannot_judge[label];
        toTwins(label);
        said.submitted = false;
        remember();
      } } }));

  const paragraphs = (text) => text.split(/\n\s*\n/).map((each) => make("p", {}, each.replace(/\s+/g, " ")));

  const bar = () => make("div", { className: "bar" },
    make("button", { type: "button", id: "back", disabled: at < 0, on: { click: () => go(at - 1) } }, "Back"),
    make("button", { type: "button", id: "next", disabled: at >= cases.length - 1, on: { click: () => go(at + 1) } }, "Next"),
    make("button", { type: "button", id: "save", className: "first", on: { click: save } }, "Save to a file"),
    make("label", { className: "quiet" }, "Continue from a file: ", make("input", { type: "file", accept: ".json", id: "load", on: { change: async (event) => {
      const [chosen] = event.target.files;
      if (!chosen) return;
      try { take(await chosen.text()); remember(); go(at); } catch (error) { status(`Not read: ${error.message}`); }
    } } })),
    make("span", { className: "said", id: "status", role: "status" }));

  const status = (text) => {
    const node = document.getElementById("status");
    if (!node) return;
    const done = cases.filter((each) => answers[each.key].submitted).length;
    node.textContent = text || `${done} of ${cases.length} cases done${unsaved ? "; not saved to a file yet" : ""}`;
  };

  const drawStart = () => {
    page.replaceChildren(bar(), make("h1", {}, content.title), make("p", { className: "quiet" }, `Sheet of ${content.name}`),
      make("section", { className: "box" }, ...paragraphs(design.instructions),
        make("p", {}, "This file works without a network. Use “Save to a file” whenever you pause, and send that file back when you are done.")),
      ...content.examples.map((each, n) => make("section", { className: "box" }, make("h2", {}, `Example ${n + 1}`),
        make("p", { className: "report" }, `Reference: ${each.reference}`),
        ...each.candidates.map((one) => make("div", {}, make("p", { className: "report" }, `Candidate: ${one.text}`),
          ...one.answers.map((line) => make("p", { className: "right" }, line)))),
        make("p", { className: "quiet" }, each.feedback))));
  };

  const drawCase = () => {
    const one = cases[at];
    const texts = new Map();
    const wrong = make("ul", { className: "wrong", role: "alert" });
    const done = make("button", { type: "button", id: "done", className: "first", on: { click: () => {
      const left = problems();
      wrong.replaceChildren(...left.slice(0, 8).map((each) => make("li", {}, each)));
      if (left.length) return;
      clock();
      answers[one.key].submitted = true;
      remember();
      if (at < cases.length - 1) go(at + 1);
      else go(at);
    } } }, "Done with this case");
    const left = make("div", { className: "left" },
      make("section", { className: "box" }, make("h3", {}, "Reference"),
        ...Object.entries(one.context).map(([name, text]) => make("p", { className: "quiet" }, `${name}: ${text}`)),
        make("div", { className: "report", id: "reference" }, one.reference || "(no reference is shown)")),
      one.images.length ? make("section", { className: "box pictures" }, ...one.images.map((each, n) => make("img", { src: each, alt: `Image ${n + 1} of the study` }))) : null);
    const shown = one.candidates.filter((each) => twins(each.label)[0] === each.label);
    const right = make("div", {}, ...shown.map((candidate) => {
      const text = make("div", { className: "report", id: `text-${candidate.label}` });
      texts.set(candidate.label, text);
      const label = twins(candidate.label).join(" = ");
      const name = candidate.system ? `Candidate ${label}: ${candidate.system}` : `Candidate ${label}`;
      const hints = candidate.suggestions.length ? make("details", {}, make("summary", {}, "What radgauge would mark"),
        ...candidate.suggestions.map((each) => make("p", { className: "quiet" }, each.text))) : null;
      return make("section", { className: "box" }, make("h3", {}, name), text, hints,
        ...design.fields.filter((field) => field.per !== "case").map((field) => ask(field, candidate.label, texts)),
        unable(candidate.label, `candidate ${candidate.label}`));
    }), make("section", { className: "box" },
      ...design.fields.filter((field) => field.per === "case").map((field) => ask(field, "", texts)),
      unable("", "the whole case"), wrong, make("p", {}, done),
      answers[one.key].submitted ? make("p", { className: "right" }, "This case is done. A change opens it again.") : null));
    page.replaceChildren(bar(), make("h1", {}, `Case ${one.number} of ${cases.length}`), make("div", { className: "side" }, left, right));
    for (const candidate of shown) marks(candidate.label, texts);
  };

  const go = (place) => {
    clock();
    at = Math.max(-1, Math.min(place, cases.length - 1));
    if (at < 0) drawStart();
    else drawCase();
    status();
    window.scrollTo(0, 0);
  };

  document.addEventListener("visibilitychange", () => {
    if (document.hidden && at >= 0 && since) answers[cases[at].key].seconds += Math.min((Date.now() - since) / 1000, 600);
    since = document.hidden ? 0 : Date.now();
  });
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.metaKey || event.ctrlKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    if (event.key === "j") go(at + 1);
    if (event.key === "k") go(at - 1);
  });
  window.addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
  go(-1);
})();
