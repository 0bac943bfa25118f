"use strict";
// The page on which a rater judges a case. All texts are put in with textContent: nothing in a report can become
// markup. Offsets count characters as Python does (code points, not UTF-16 units).
//
// Every change is an action. Actions wait in a queue, are sent one by one, and stay there until the server has
// acknowledged them; what is shown is the server's last state plus the queue. An action carries an id of its own, so
// that sending it twice does nothing twice, and the version that it was based on, so that two windows cannot
// overwrite each other.
(() => {
  const $ = (id) => document.getElementById(id);
  // A sentence of the page in the language of the design; study.words holds those that are not English.
  const t = (text, ...values) => {
    const plain = text.trimEnd();
    const said = study?.words?.[plain] ?? plain;
    return values.reduce((made, value, n) => made.replaceAll(`{${n}}`, String(value)), said) + text.slice(plain.length);
  };
  const el = (name, cls, text) => {
    const node = document.createElement(name);
    if (cls) node.className = cls;
    if (text !== undefined && text !== null) node.textContent = text;
    return node;
  };
  const key = (text) => el("kbd", "", text);
  const button = (text, name, work) => {
    const made = el("button", "", t(text));
    made.type = "button";
    made.dataset.key = name;
    made.addEventListener("click", work);
    return made;
  };
  const COLOURS = 6;
  const csrf = document.body.dataset.csrf;
  const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  const freshId = () => {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  };

  let study = null; // title, design, cases
  let item = null; // the case that is shown
  let base = null; // its state, as the server last said
  let queue = []; // actions that the server has not acknowledged
  let label = ""; // of the candidate that is being judged
  let stop = 0; // which question the number keys answer
  let selection = null; // {pane, from, to}: words of the reference ("") or of a candidate
  let asking = null; // a mark under way: what is still to be chosen
  let said = { text: "Saved", kind: "ok" };
  let looked = new Set(); // labels of the candidates that were on the screen
  let sending = false, notice = "", showProblems = false, showSuggestions = true;

  const fields = () => study.design.fields;
  const field = (name) => fields().find((each) => each.key === name);
  // Identical candidates are judged once, where the design wants equal answers: the first is shown for all of them.
  const judgedOnce = () => fields().some((each) => each.identical) && !fields().some((each) => each.candidates);
  const twinsOf = (name) => {
    const own = candidate(name).text.trim();
    return judgedOnce() ? item.candidates.filter((each) => each.text.trim() === own).map((each) => each.label) : [name];
  };
  const judged = () => item.candidates.filter((each) => twinsOf(each.label)[0] === each.label);
  const nameOf = (name) => twinsOf(name).join(" = ");
  const openProblems = () => item.problems.filter((each) => !each.candidate || twinsOf(each.candidate)[0] === each.candidate);
  const candidate = (name = label) => item.candidates.find((each) => each.label === name);
  const counted = () => fields().find((each) => each.kind === "counts" && each.per === "candidate");
  const levelsOf = (asked, category) => {
    const own = (asked.categories ?? []).find((each) => each.key === category);
    return own && own.significance.length ? own.significance : asked.significance;
  };
  const titleOf = (options, name) => (options.find((each) => each.key === name) ?? { title: name }).title;
  const whole = (value) => String(Math.round(value * 1000) / 1000);

  // ---------------------------------------------------------------- state: the server's, with the queue on top
  const clone = (value) => JSON.parse(JSON.stringify(value));
  function current() {
    const state = clone(base);
    for (const action of queue) apply(state, action);
    return state;
  }
  function apply(state, { kind, payload, client_id }) {
    if (kind === "time") return;
    state.version += 1;
    if (kind === "copy") {
      const { source, candidate: to } = payload;
      state.answers[to] = clone(state.answers[source] ?? {});
      delete state.cannot_judge[to];
      if (source in state.cannot_judge) state.cannot_judge[to] = state.cannot_judge[source];
      state.can_undo = true;
    }
    if (kind === "cannot_judge") state.cannot_judge[payload.candidate] = payload.reason;
    if (kind === "can_judge") delete state.cannot_judge[payload.candidate];
    if (kind === "submit") state.submitted = true;
    if (kind === "reopen") state.submitted = false;
    if (!["set", "add", "change", "remove"].includes(kind)) return;
    state.can_undo = true;
    const answers = (state.answers[payload.candidate] ??= {});
    if (kind === "set") {
      const path = [payload.field];
      if (payload.unit !== undefined) path.push(String(payload.unit));
      if (payload.part) path.push(payload.part);
      let at = answers;
      for (const step of path.slice(0, -1)) at = at[step] ??= {};
      if (payload.value === null) delete at[path.at(-1)];
      else at[path.at(-1)] = payload.value;
      return;
    }
    const entries = (answers[payload.field] ??= []);
    const place = entries.findIndex((each) => each.id === payload.id);
    if (kind === "add") entries.push({ id: `new-${client_id}`, ...payload.entry });
    else if (place >= 0 && kind === "change") entries[place] = { id: payload.id, ...payload.entry };
    else if (place >= 0) entries.splice(place, 1);
  }
  const answer = (state, name, of, unit) => {
    const found = (state.answers[of] ?? {})[name];
    return unit === undefined ? found : (found ?? {})[String(unit)];
  };
  const partOf = (entry) => (entry.significance ? `${entry.category}/${entry.significance}` : entry.category ?? "");
  function countsOf(state, asked, of) {
    const counts = { ...(answer(state, asked.key, of) ?? {}) };
    const marked = {};
    for (const other of fields()) {
      if (other.counts_into !== asked.key) continue;
      for (const entry of answer(state, other.key, of) ?? []) marked[partOf(entry)] = (marked[partOf(entry)] ?? 0) + 1;
    }
    for (const part of Object.keys(marked)) counts[part] = Math.max(counts[part] ?? 0, marked[part]);
    return [counts, marked];
  }

  // ---------------------------------------------------------------- sending
  const shelf = () => `radgauge-study-${document.body.dataset.who}-${item.key}`;
  const keep = () => {
    try {
      if (queue.length) sessionStorage.setItem(shelf(), JSON.stringify(queue));
      else sessionStorage.removeItem(shelf());
    } catch { /* without storage the queue lives as long as the page */ }
  };
  const kept = () => {
    try { return JSON.parse(sessionStorage.getItem(shelf()) ?? "[]"); } catch { return []; }
  };
  function act(kind, payload = {}) {
    const changes = ["set", "add", "change", "remove", "copy", "cannot_judge", "can_judge"].includes(kind);
    if (changes && current().submitted) return tell("This case is submitted. Press e to open it again.", "warn");
    queue.push({ kind, payload, client_id: freshId(), based_on: base.version + queue.length });
    notice = "";
    keep();
    render();
    if (sending && said.kind === "bad") waiting();
    return send();
  }
  async function send() {
    if (sending) return;
    sending = true;
    let pause = 500;
    while (queue.length) {
      if (said.kind !== "bad") status("Saving…", "busy");
      const sent = item, action = queue[0];
      let reply = null, body = null;
      try {
        reply = await fetch(`/api/cases/${sent.key}/actions`, {
          method: "POST",
          headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
          body: JSON.stringify(action),
          credentials: "same-origin",
          signal: AbortSignal.timeout(20000),
        });
        body = await reply.json();
      } catch { reply = null; }
      if (item !== sent) { sending = false; return; }
      if (!reply || reply.status >= 500 || reply.status === 429) {
        waiting();
        await wait(reply?.status === 429 ? 1500 : pause);
        pause = Math.min(pause * 1.6, 8000);
        continue;
      }
      pause = 500;
      if (reply.ok) {
        status("Saving…", "busy");
        queue.shift();
        const fresh = `new-${action.client_id}`;
        for (const later of queue) if (later.payload.id === fresh) later.payload.id = String(body.seq);
        take(body);
        keep();
        render();
        continue;
      }
      if (reply.status === 401 || reply.status === 403) return signedOut(reply.status);
      queue = [];
      keep();
      if (reply.status === 409) {
        await reload("This case was changed in another window. Here is its current state; your last change was not made.");
        tell(notice, "warn");
      } else {
        tell(body.error ?? "This could not be saved.", "warn");
        await reload(notice);
      }
    }
    sending = false;
    status("Saved", "ok");
  }
  // The session has ended (401), or this browser was signed in anew elsewhere (403): what waits is kept for this tab.
  let leaving = false;
  function signedOut(code) {
    leaving = true;
    keep();
    const last = Number(sessionStorage.getItem("radgauge-study-reloaded") ?? 0);
    if (code === 401) location.assign("/");
    else if (Date.now() - last > 10000) {
      sessionStorage.setItem("radgauge-study-reloaded", String(Date.now()));
      location.reload();
    } else status("Not saved. Please open your link again; what you did waits here.", "bad");
  }
  function waiting() {
    const text = queue.length > 1 ? "Not saved: the server does not answer. {0} changes wait here and will be sent."
      : "Not saved: the server does not answer. 1 change waits here and will be sent.";
    status(t(text, queue.length), "bad");
  }
  function take(body) {
    base = body.state;
    item.problems = body.problems;
    item.feedback = body.feedback ?? item.feedback;
    if (body.cases) study.cases = body.cases;
  }
  // Wait until everything is saved; false if the server does not answer, so that nobody waits for it without end.
  async function settled() {
    while (sending || queue.length) {
      if (said.kind === "bad") {
        tell("Not saved yet: the server does not answer. Your changes wait here.", "warn");
        return false;
      }
      await wait(15);
    }
    return true;
  }
  async function reload(why) {
    const fresh = await get(`/api/cases/${item.key}`);
    if (!fresh) return;
    const { images } = item;
    Object.assign(item, inWords(fresh), { images }); // pictures are on the screen already
    base = fresh.state;
    notice = why;
    selection = asking = null;
    render();
  }
  async function get(address) {
    for (let pause = 500; ; pause = Math.min(pause * 1.6, 8000)) {
      try {
        const reply = await fetch(address, { credentials: "same-origin" });
        if (reply.status === 401) { location.assign("/"); return null; }
        if (reply.status === 404) return null;
        if (reply.ok) return await reply.json();
      } catch { /* tried again below */ }
      status("The server does not answer; trying again.", "bad");
      await wait(pause);
    }
  }
  function status(text, kind) {
    text = t(text);
    said = { text, kind };
    const box = $("status");
    if (box.textContent !== text) box.textContent = text;
    box.dataset.kind = kind;
  }
  let toastTimer = 0;
  function tell(text, kind = "") {
    if (!text) return;
    $("toast").textContent = t(text);
    $("toast").className = `on ${kind}`;
    clearTimeout(toastTimer);
    toastTimer = setTimeout(() => { $("toast").className = ""; }, 5000);
  }

  // ---------------------------------------------------------------- time: while the page is seen and somebody works
  const IDLE = 60000;
  let counting = 0, unsent = 0, lastTouch = 0;
  function tick() {
    const now = performance.now();
    if (counting && !document.hidden && now - lastTouch < IDLE) unsent += (now - counting) / 1000;
    counting = now;
  }
  function reportTime() {
    tick();
    if (!item || unsent < 0.05 || base.submitted) return;
    const payload = { seconds: Math.round(unsent * 1000) / 1000 };
    unsent = 0;
    fetch(`/api/cases/${item.key}/actions`, {
      method: "POST",
      keepalive: true,
      headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
      body: JSON.stringify({ kind: "time", payload, client_id: freshId(), based_on: 0 }),
      credentials: "same-origin",
    }).then((reply) => { if (!reply.ok) unsent += payload.seconds; }, () => { unsent += payload.seconds; });
  }
  for (const name of ["pointerdown", "keydown", "wheel", "pointermove"]) {
    addEventListener(name, () => { tick(); lastTouch = performance.now(); }, { passive: true, capture: true });
  }
  document.addEventListener("visibilitychange", () => { if (document.hidden) reportTime(); else counting = performance.now(); });
  addEventListener("pagehide", reportTime);
  setInterval(() => { tick(); if (unsent >= 30) reportTime(); }, 5000);

  // ---------------------------------------------------------------- going from case to case
  // While the page changes to another case no key and no click may fall on the one that is going.
  let moving = false;
  const moved = (work) => async (...given) => {
    if (moving) return;
    moving = $("case").inert = true;
    let then = null;
    try { then = await work(...given); } finally { moving = $("case").inert = false; }
    if (typeof then === "function") then();
    else if (!document.querySelector("dialog[open]")) (document.querySelector("#feedback:not([hidden])") ?? $("case")).focus({ preventScroll: true });
  };
  async function show(caseKey, { push = true } = {}) {
    if (item) {
      if (!await settled()) return;
      reportTime();
    }
    const fresh = await get(`/api/cases/${encodeURIComponent(caseKey)}`);
    if (!fresh) return tell("There is no such case.", "warn");
    item = inWords(fresh);
    base = fresh.state;
    queue = kept();
    label = item.candidates[0].label;
    looked = new Set(Object.keys(base.answers).concat(Object.keys(base.cannot_judge), label));
    stop = 0;
    drafts.clear();
    selection = asking = null;
    notice = "";
    showProblems = false;
    unsent = 0;
    counting = lastTouch = performance.now();
    if (push) history.pushState(null, "", `/case/${caseKey}`);
    document.title = `${t(item.training ? "Practice case {0}" : "Case {0}", item.number)} · ${study.title}`;
    pictures();
    firstOpen();
    render();
    scrollTo(0, 0);
    send();
  }
  const go = moved(show);
  function step(by) {
    const at = study.cases.findIndex((each) => each.key === item.key) + by;
    const next = study.cases[at];
    if (!next) return tell(by > 0 ? "This is the last case." : "This is the first case.");
    if (next.locked) return tell("Finish the practice cases first: Enter submits this one.", "warn");
    return go(next.key);
  }
  function nextOpen() {
    const at = study.cases.findIndex((each) => each.key === item.key);
    const order = [...study.cases.slice(at + 1), ...study.cases.slice(0, at)];
    const next = order.find((each) => !each.submitted && !each.locked);
    return next ? show(next.key) : location.assign("/done");
  }
  function submit() {
    if (asking) return;
    const next = unseen();
    if (!next) return submitCase();
    const state = current();
    if (label in state.cannot_judge || !uncounted(state, counted(), label)) return choose(next.label);
    tell("Count an error, or press 0: no errors.", "warn");
    goTo(counted().key);
  }
  // What was said of a candidate holds for its twins.
  function copyToTwins() {
    const state = current();
    const said = (name) => JSON.stringify([state.answers[name] ?? {}, state.cannot_judge[name] ?? null]);
    for (const { label: first } of judged()) {
      for (const twin of twinsOf(first).slice(1)) {
        if (said(twin) !== said(first)) act("copy", { candidate: twin, source: first });
      }
    }
  }
  const submitCase = moved(async () => {
    if (!await settled()) return;
    if (base.submitted) return nextOpen();
    copyToTwins();
    if (!await settled()) return;
    if (item.problems.length) {
      showProblems = true;
      tell(item.problems.length === 1 ? "One answer is missing." : t("{0} answers are missing.", item.problems.length), "warn");
      const first = item.problems[0];
      return () => {
        if (first.candidate) choose(first.candidate);
        goTo(first.field, first.sentence);
      };
    }
    reportTime();
    act("submit");
    if (await settled() && base.submitted && !item.training) await nextOpen();
  });
  function choose(name) {
    if (!candidate(name)) return;
    label = name = twinsOf(name)[0];
    looked.add(name);
    selection = asking = null;
    firstOpen();
    render();
  }
  // A candidate that was never on the screen was not judged, even if no answer is missing.
  const unseen = () => (sideBySide() || "" in current().cannot_judge || base.submitted ? undefined : judged().find((each) => !looked.has(each.label)));
  function besides(by) {
    const list = judged();
    const at = list.findIndex((each) => each.label === label) + by;
    if (list[at]) choose(list[at].label);
  }

  // ---------------------------------------------------------------- questions: stops that the number keys answer
  function stops() {
    const found = [];
    const sentences = fields().filter((each) => each.per === "sentence");
    for (const asked of fields()) {
      if (asked.per === "case") found.push({ field: asked, of: "" });
      else if (asked.per === "sentence" && asked === sentences[0]) {
        candidate().sentences.forEach((_, unit) => sentences.forEach((each) => found.push({ field: each, of: label, unit })));
      } else if (asked.per === "candidate") {
        if (asked.counts_into && counted()) continue; // shown with the counts
        if (asked.kind === "missing" && fields().some((each) => each.kind === "marks")) continue; // shown with the marks
        found.push({ field: asked, of: label });
      }
    }
    return found;
  }
  const isList = (asked) => asked.kind === "marks" || asked.kind === "missing" || asked.kind === "counts";
  function firstOpen() {
    const state = current();
    const at = stops().findIndex(({ field: asked, of, unit }) => isList(asked) || answer(state, asked.key, of, unit) === undefined);
    stop = Math.max(0, at);
  }
  function goTo(name, unit) {
    const at = stops().findIndex((each) => each.field.key === name && (each.unit ?? null) === (unit ?? null));
    if (at >= 0) stop = at;
    render();
    if (at >= 0 && answer(current(), name, stops()[at].of, unit ?? undefined) !== undefined) focusReason(stops()[at]);
    document.querySelector(".stop.active, .part.active")?.scrollIntoView({ block: "nearest" });
  }
  function moveStop(by) {
    const all = stops();
    stop = (stop + by + all.length) % all.length;
    asking = null;
    render();
    document.querySelector(".stop.active, .part.active")?.scrollIntoView({ block: "nearest" });
  }
  const optionsOf = (asked) => asked.candidates
    ? [...item.candidates.map((each) => ({ key: each.label, title: t("Candidate {0}", each.label) })), ...asked.options]
    : asked.options;
  const steps = (asked) => {
    const found = [];
    for (let n = 0; asked.minimum + n * asked.step <= asked.maximum + 1e-9 && n < 101; n++) found.push(asked.minimum + n * asked.step);
    return found;
  };
  function setAnswer({ field: asked, of, unit }, value, { onward = true } = {}) {
    const payload = { candidate: of, field: asked.key, value };
    if (unit !== undefined) payload.unit = unit;
    if (onward && stop < stops().length - 1) stop += 1;
    act("set", payload);
  }
  function setChoice(place, name, onward = true) {
    const before = answer(current(), place.field.key, place.of, place.unit) ?? {};
    const value = { choice: name };
    if (before.reason) value.reason = before.reason;
    setAnswer(place, value, { onward: onward && place.field.reason !== "required" });
    if (place.field.reason === "required" && !value.reason) focusReason(place);
  }
  const focusReason = (place) => document.querySelector(`[data-key="${place.field.key}-${place.of}-${place.unit ?? ""}-reason"]`)?.focus();
  function setCount(asked, part, value) {
    const [, marked] = countsOf(current(), asked, label);
    const least = marked[part] ?? 0;
    if (value < least) return tell("A count is at least the number of its marks: remove a mark instead.", "warn");
    if (value > asked.maximum) return;
    act("set", { candidate: label, field: asked.key, part, value: value || !asked.explicit ? value || null : 0 });
  }
  // An answer of its own: counts that nobody touched are not zeros.
  const uncounted = (state, asked, of) => asked?.explicit && !Object.keys(answer(state, asked.key, of) ?? {}).length
    && !Object.values(countsOf(state, asked, of)[0]).some(Boolean);
  function noErrors() {
    const asked = counted();
    if (!asked?.explicit || label in current().cannot_judge) return;
    if (Object.values(countsOf(current(), asked, label)[0]).some(Boolean)) return tell("Errors are counted here: count them down first.", "warn");
    act("set", { candidate: label, field: asked.key, part: partsOf(asked)[0][0], value: 0 });
  }
  const addCount = (asked, part, by) => setCount(asked, part, (countsOf(current(), asked, label)[0][part] ?? 0) + by);

  // A category was named by key or button: a mark if words are selected, else one more (or less) in the counts.
  const markField = () => fields().find((each) => each.kind === "marks");
  const missingField = () => fields().find((each) => each.kind === "missing");
  function categories() {
    const asked = counted() ?? (selection && selection.pane === "" ? missingField() : markField()) ?? markField() ?? missingField();
    return asked ? asked.categories : [];
  }
  function pickCategory(name, by = 1) {
    const counts = counted();
    const list = selection ? (selection.pane === "" ? missingField() : markField()) : null;
    const has = (asked) => asked && (asked.categories.length === 0 || asked.categories.some((each) => each.key === name));
    if (list && has(list) && by > 0) return begin({ field: list, entry: { category: name } });
    if (selection && !counts) {
      return tell(selection.pane === "" ? "What the reference has and the candidate lacks is added with m." : "Select words of the candidate first.", "warn");
    }
    if (counts) return begin({ field: counts, entry: { category: name }, by });
    tell("Select words in the candidate first: arrow keys move, with Shift they extend.", "warn");
  }
  // Ask for what an entry still needs: category, significance, attribute; then make it.
  function begin(next) {
    const { field: asked, entry } = next;
    const levels = levelsOf(asked, entry.category);
    const own = asked.categories.find((each) => each.key === entry.category);
    const options = asked.categories.length && !entry.category ? ["category", asked.categories, "Which kind?"]
      : levels.length && !entry.significance ? ["significance", levels, "How significant?"]
      : asked.kind !== "counts" && own && own.attributes.length && !entry.attribute ? ["attribute", own.attributes, "What is wrong?"]
      : null;
    if (options && options[1].length === 1) return begin({ ...next, entry: { ...entry, [options[0]]: options[1][0].key } });
    if (options) {
      asking = { next, name: options[0], options: options[1], title: options[2] };
      render();
      document.querySelector("#asking button")?.focus();
      return;
    }
    asking = null;
    if (asked.kind === "counts") return addCount(asked, partOf(entry), next.by ?? 1);
    if (next.change) return act("change", { candidate: label, field: asked.key, id: next.change, entry });
    const place = selection && next.place === undefined ? span(selection) : next.place;
    const made = { ...entry, ...(place ?? {}) };
    selection = null;
    act("add", { candidate: label, field: asked.key, entry: made });
    $("case").focus({ preventScroll: true });
  }
  function pick(name) {
    const { next, name: what } = asking;
    begin({ ...next, entry: { ...next.entry, [what]: name } });
  }
  function addMissing() {
    const asked = missingField();
    if (!asked) return tell("This study does not ask for missing findings.");
    if (current().submitted) return tell("This case is submitted. Press e to open it again.", "warn");
    if (selection && selection.pane === "") return begin({ field: asked, entry: {} });
    const box = $("dialog-missing");
    $("missing-text").value = "";
    box.showModal();
  }

  // ---------------------------------------------------------------- texts as words
  function words(text, sentences) {
    const letters = Array.from(text);
    const found = [];
    let start = -1;
    letters.forEach((letter, at) => {
      const blank = /\s/u.test(letter);
      if (!blank && start < 0) start = at;
      if ((blank || at === letters.length - 1) && start >= 0) {
        const end = blank ? at : at + 1;
        const inside = sentences.findIndex(([from, to]) => start >= from && start < to);
        found.push({ start, end, text: letters.slice(start, end).join(""), sentence: inside });
        start = -1;
      }
    });
    found.gap = (from, to) => letters.slice(from, to).join("");
    return found;
  }
  function inWords(found) {
    for (const each of found.candidates) each.words = words(each.text, each.sentences);
    if (found.reference) found.reference.words = words(found.reference.text, found.reference.sentences);
    return found;
  }
  const wordsOf = (pane) => (pane === "" ? item.reference.words : candidate(pane).words);
  const bySentence = () => markField()?.on === "sentence";
  function span({ pane, from, to }) {
    const list = wordsOf(pane);
    if (bySentence()) return { unit: list[from].sentence };
    const start = list[Math.min(from, to)].start, last = list[Math.max(from, to)];
    const bare = Array.from(last.text.replace(/[.,;:]+$/u, "")).length; // "effusion." is the word effusion
    return { start, end: bare ? last.start + bare : last.end };
  }
  function select(pane, from, to = from) {
    const list = wordsOf(pane);
    if (!list.length) return;
    const clamp = (at) => Math.min(list.length - 1, Math.max(0, at));
    [from, to] = [clamp(from), clamp(to)];
    if (bySentence()) {
      const inside = list[to].sentence;
      from = list.findIndex((word) => word.sentence === inside);
      to = list.findLastIndex((word) => word.sentence === inside);
    }
    selection = { pane, from, to };
    if (pane !== "" && pane !== label) { label = pane; looked.add(pane); firstOpen(); }
    asking = null;
    render();
    const chosen = list.slice(Math.min(from, to), Math.max(from, to) + 1).map((word) => word.text).join(" ");
    $("spoken").textContent = `${pane === "" ? "Reference" : `Candidate ${pane}`}: ${chosen}`;
    document.querySelector(".word.cursor")?.scrollIntoView({ block: "nearest" });
  }
  function moveCursor(by, extend, sentenceWise) {
    const pane = selection ? selection.pane : label;
    const list = wordsOf(pane);
    if (!selection) return select(pane, by > 0 ? 0 : list.length - 1);
    let to = selection.to + by;
    if (sentenceWise || bySentence()) {
      const here = list[selection.to].sentence;
      if (by > 0) to = list.findIndex((word, at) => at > selection.to && word.sentence !== here);
      else {
        const before = list.findLastIndex((word, at) => at < selection.from && word.sentence !== here);
        to = before < 0 ? 0 : list.findIndex((word) => word.sentence === list[before].sentence);
      }
      if (to < 0) to = list.length - 1;
    }
    select(pane, extend ? selection.from : to, to);
  }
  function marksOn(pane, state) {
    if (pane === "") {
      const asked = missingField();
      return asked ? (answer(state, asked.key, label) ?? []).filter((each) => each.start !== undefined).map((entry) => ({ entry, asked })) : [];
    }
    const asked = markField();
    return asked ? (answer(state, asked.key, pane) ?? []).map((entry) => ({ entry, asked })) : [];
  }
  const kindOf = (asked, entry) => {
    const list = (counted() ?? asked).categories;
    return Math.max(0, list.findIndex((each) => each.key === entry.category)) % COLOURS;
  };
  function drawWords(pane, text, state) {
    const box = el("p", "words");
    box.tabIndex = 0;
    box.dataset.key = `words-${pane}`;
    box.dataset.pane = pane;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", `${pane === "" ? "Reference" : `Candidate ${pane}`}. Arrow keys move from word to word, with Shift they select.`);
    if (!text.words.length) {
      box.append(el("span", "none", t("The text is empty.")));
      return box;
    }
    const marks = marksOn(pane, state);
    const hints = pane !== "" && showSuggestions ? candidate(pane).suggestions : [];
    const at = (word, list) => list.findLast(({ entry }) => {
      if (entry.start === undefined && entry.unit !== undefined) return word.sentence === entry.unit;
      return word.start < entry.end && word.end > entry.start;
    });
    const hinted = hints.flatMap((hint) => hint.candidate_spans.map(([start, end]) => ({ entry: { start, end } })));
    const asked = stops()[Math.min(stop, stops().length - 1)].unit;
    let group = box, mark = null, last = 0;
    text.words.forEach((word, n) => {
      const found = at(word, marks);
      const gap = text.words.gap(last, word.start);
      if (found?.entry !== mark) {
        box.append(gap);
        mark = found?.entry ?? null;
        group = mark ? el("mark", `k${kindOf(found.asked, mark)}`) : box;
        if (mark) {
          group.title = describe(found.asked, mark);
          box.append(group);
        }
      } else group.append(gap);
      const shown = el("span", "word", word.text);
      shown.dataset.n = n;
      if (at(word, hinted)) shown.classList.add("hint");
      if (pane === label && word.sentence === asked) shown.classList.add("asked");
      if (selection && selection.pane === pane) {
        if (n >= Math.min(selection.from, selection.to) && n <= Math.max(selection.from, selection.to)) shown.classList.add("chosen");
        if (n === selection.to) shown.classList.add("cursor");
      }
      group.append(shown);
      last = word.end;
    });
    return box;
  }
  function describe(asked, entry) {
    const own = asked.categories.find((each) => each.key === entry.category);
    const parts = [];
    if (own) parts.push(own.title);
    if (entry.attribute && own) parts.push(titleOf(own.attributes, entry.attribute));
    if (entry.significance) parts.push(titleOf(levelsOf(asked, entry.category), entry.significance));
    return parts.join(", ") || asked.title;
  }
  function quoted(pane, entry) {
    if (entry.text) return entry.text;
    const list = wordsOf(pane);
    const inside = list.filter((word) => entry.start === undefined ? word.sentence === entry.unit : word.start < entry.end && word.end > entry.start);
    return inside.map((word) => word.text).join(" ");
  }
  // Pointer: press and draw over words; on a touch screen a tap on a second word extends.
  let anchor = null;
  addEventListener("pointerdown", (event) => {
    const word = event.target.closest?.(".word");
    if (!word || event.button) return;
    const pane = word.closest(".words").dataset.pane, n = Number(word.dataset.n);
    if (current().submitted) return;
    event.preventDefault();
    word.closest(".words").focus({ preventScroll: true });
    const same = selection && selection.pane === pane;
    if (same && (event.shiftKey || (event.pointerType !== "mouse" && n !== selection.to))) { anchor = selection.from; select(pane, anchor, n); }
    else if (same && selection.from === selection.to && selection.to === n) { selection = null; anchor = null; render(); return; }
    else { anchor = n; select(pane, n); }
    anchor = { pane, n: anchor };
  });
  addEventListener("pointermove", (event) => {
    if (!anchor || event.pointerType !== "mouse" || !(event.buttons & 1)) return;
    const word = document.elementFromPoint(event.clientX, event.clientY)?.closest(".word");
    if (!word || word.closest(".words").dataset.pane !== anchor.pane || Number(word.dataset.n) === selection?.to) return;
    select(anchor.pane, anchor.n, Number(word.dataset.n));
  });
  addEventListener("pointerup", () => { anchor = null; });

  // ---------------------------------------------------------------- drawing
  function render() {
    if (!item) return;
    const focused = document.activeElement?.dataset?.key;
    const typed = document.activeElement?.tagName === "TEXTAREA" ? document.activeElement.selectionStart : null;
    const state = current();
    drawHead(state);
    drawTexts(state);
    drawQuestions(state);
    drawFoot(state);
    if (focused) {
      const again = document.querySelector(`[data-key="${CSS.escape(focused)}"]`);
      if (again && again !== document.activeElement) again.focus({ preventScroll: true });
      if (again && typed !== null) again.setSelectionRange(typed, typed);
    }
    document.body.dataset.ready = "yes";
  }
  function drawHead(state) {
    const real = study.cases.filter((each) => !each.training);
    const done = real.filter((each) => each.submitted).length;
    $("where").textContent = item.training
      ? t("Practice case {0} of {1}", item.number, study.cases.length - real.length)
      : t("Case {0} of {1}", item.number, real.length);
    $("done").textContent = t("{0} of {1} submitted", done, real.length);
    $("progress").max = Math.max(1, real.length);
    $("progress").value = done;
    $("undo").disabled = !state.can_undo && !queue.length;
    $("status").textContent = t(said.text);
    $("status").dataset.kind = said.kind;
    const list = el("ol");
    for (const each of study.cases) {
      const line = el("li");
      const link = button(each.training ? `P${each.number}` : String(each.number), `case-${each.key}`, () => go(each.key));
      link.disabled = each.locked;
      const how = each.submitted ? (each.cannot_judge ? "not judged" : "submitted") : each.started ? "begun" : "open";
      link.className = each.submitted ? "is-done" : each.started ? "is-begun" : "";
      link.setAttribute("aria-label", `${each.training ? "Practice case" : "Case"} ${each.number}, ${how}`);
      if (each.key === item.key) link.setAttribute("aria-current", "true");
      line.append(link);
      list.append(line);
    }
    $("cases").replaceChildren(list);
    $("notice").hidden = !notice;
    $("notice").textContent = t(notice);
    $("context").replaceChildren(...Object.entries(item.context).flatMap(([name, value]) => {
      const part = el("span");
      part.append(el("b", "", `${name}: `), value);
      return [part];
    }));
    const feedback = $("feedback");
    feedback.hidden = !(item.training && state.submitted && item.feedback);
    if (!feedback.hidden) drawFeedback(feedback);
  }
  function drawFeedback(box) {
    const { right, of, text, lines } = item.feedback;
    box.className = `feedback ${right === of ? "right" : "other"}`;
    box.replaceChildren(el("h3", "", right === of ? t("As expected") : t("{0} of {1} answers as expected", right, of)));
    if (lines.length) {
      const list = el("ul");
      for (const each of lines) list.append(el("li", "", each));
      box.append(list);
    }
    if (text) box.append(el("p", "", text));
    const again = el("p", "hint-line");
    again.append(key("e"), " ", t("opens the case again"), ", ", key("Enter"), " ", t("goes on"));
    box.append(again);
  }
  const sideBySide = () => item.candidates.length === 2 && fields().some((each) => each.per === "case" && each.candidates);
  function drawTexts(state) {
    const panes = [];
    if (item.reference) {
      const pane = el("section", "text");
      const head = el("h2", "", t("Reference"));
      pane.append(head, drawWords("", item.reference, state));
      panes.push(pane);
    }
    const list = judged();
    const shown = sideBySide() ? item.candidates : [candidate()];
    for (const each of shown) {
      const pane = el("section", `text candidate${each.label === label && sideBySide() ? " current" : ""}`);
      const head = el("h2");
      if (sideBySide() || list.length === 1) head.append(item.candidates.length === 1 ? t("Candidate") : t("Candidate {0}", sideBySide() ? each.label : nameOf(each.label)));
      else {
        if (item.candidates.length > 3) head.append(t("Candidate"));
        const tabs = el("div", "tabs");
        tabs.setAttribute("role", "tablist");
        for (const other of list) {
          const name = nameOf(other.label);
          const tab = button(item.candidates.length > 3 ? name : t("Candidate {0}", name), `tab-${other.label}`, () => choose(other.label));
          tab.setAttribute("role", "tab");
          tab.setAttribute("aria-label", t("Candidate {0}", name));
          tab.setAttribute("aria-selected", String(other.label === label));
          const left = item.problems.some((problem) => problem.candidate === other.label);
          if (other.label in state.cannot_judge) tab.append(el("span", "tick", " –"));
          else if (!left && (state.answers[other.label] || state.submitted)) tab.append(el("span", "tick", " ✓"));
          tabs.append(tab);
        }
        head.append(tabs);
      }
      if (each.system) head.append(el("span", "small", ` ${each.system}`));
      pane.append(head, drawWords(each.label, each, state));
      const twins = sideBySide() ? [] : twinsOf(each.label);
      if (twins.length > 1) pane.append(el("p", "small", t("{0} candidates with the same text: judged once.", twins.length)));
      if (each.label in state.cannot_judge) pane.append(el("p", "cannot", t("Not judged: {0}", state.cannot_judge[each.label])));
      panes.push(pane);
    }
    const texts = $("texts");
    texts.dataset.panes = panes.length;
    texts.replaceChildren(...panes);
    drawSuggestions(state);
  }
  function drawSuggestions(state) {
    const box = $("suggestions");
    const hints = candidate().suggestions;
    box.hidden = !hints.length;
    if (!hints.length) return;
    const head = el("h3", "", t("What radgauge's reader would mark "));
    const toggle = button(showSuggestions ? "Hide" : "Show", "hints", () => { showSuggestions = !showSuggestions; render(); });
    toggle.append(" ", key("a"));
    head.append(toggle);
    const list = el("ul");
    if (showSuggestions) {
      hints.forEach((hint, n) => {
        const line = el("li", "", `${hint.text} `);
        const made = fromSuggestion(hint);
        if (made && !state.submitted) line.append(button("Take over", `take-${n}`, () => begin(made)));
        list.append(line);
      });
    }
    box.replaceChildren(head, list);
  }
  // A suggestion as an entry of the design: a mark in the candidate, a place in the reference, or a count.
  function fromSuggestion({ category, significance, candidate_spans: here, reference_spans: there }) {
    const has = (asked) => asked && asked.categories.some((each) => each.key === category);
    const level = (asked) => (levelsOf(asked, category).some((each) => each.key === significance) ? { significance } : {});
    const marks = markField(), missing = missingField(), counts = counted();
    if (has(marks) && here.length) {
      const [start, end] = here[0];
      const place = marks.on === "sentence" ? { unit: candidate().words.find((word) => word.end > start)?.sentence } : { start, end };
      return { field: marks, entry: { category, ...level(marks) }, place };
    }
    if (has(missing) && there.length && item.reference) return { field: missing, entry: { category, ...level(missing) }, place: { start: there[0][0], end: there[0][1] } };
    return has(counts) ? { field: counts, entry: { category, ...level(counts) }, by: 1 } : null;
  }

  function drawQuestions(state) {
    const box = $("questions");
    const made = [];
    if ("" in state.cannot_judge) made.push(el("p", "cannot", t("Not judged: {0}", state.cannot_judge[""])));
    const all = stops();
    stop = Math.min(stop, all.length - 1);
    const grid = [];
    all.forEach((place, n) => {
      if (place.unit !== undefined) {
        grid.push([place, n]);
        if (!all[n + 1] || all[n + 1].unit === undefined) made.push(drawSentences(grid, state));
        return;
      }
      const part = el("fieldset", `stop${n === stop ? " active" : ""}`);
      part.disabled = state.submitted;
      part.addEventListener("focusin", () => { if (stop !== n) { stop = n; mark(); } });
      const head = el("legend", "", place.field.title);
      part.append(head);
      if (place.field.help) part.append(el("p", "small", place.field.help));
      part.append(...drawField(place, state, n === stop));
      part.dataset.stop = n;
      made.push(part);
    });
    made.push(...drawOthers());
    box.replaceChildren(...made);
    drawAsking();
  }
  function mark() { // without drawing anew: a control has just been focused
    document.querySelectorAll("[data-stop]").forEach((each) => each.classList.toggle("active", Number(each.dataset.stop) === stop));
  }
  function drawField(place, state, active) {
    const { field: asked, of, unit } = place;
    const value = answer(state, asked.key, of, unit);
    if (asked.kind === "counts" && unit === undefined && of) return drawCounts(asked, state, active);
    if (asked.kind === "marks" || asked.kind === "missing") return drawMarks(asked, state, active);
    if (asked.kind === "rating") return [drawScale(place, value, active)];
    if (asked.kind === "choice") return drawChoice(place, value, active);
    if (asked.kind === "counts") return drawPlainCounts(place, value ?? {}, active);
    return [drawNumber(place, value)];
  }
  function stepper(name, value, change, least = 0) {
    const box = el("span", "stepper");
    const less = button("−", `${name}-less`, () => change(value - 1));
    less.disabled = value <= least;
    less.setAttribute("aria-label", `${name}: one less`);
    const more = button("+", `${name}-more`, () => change(value + 1));
    more.setAttribute("aria-label", `${name}: one more`);
    box.append(less, el("output", value ? "some" : "", String(value)), more);
    return box;
  }
  function drawCounts(asked, state, active) {
    const [counts, marked] = countsOf(state, asked, label);
    const table = el("table", "counts");
    const levels = asked.significance;
    const head = el("tr");
    head.append(el("th"));
    for (const level of levels.length ? levels : [{ title: t("number") }]) head.append(el("th", "num", level.title));
    const top = el("thead");
    top.append(head);
    const body = el("tbody");
    asked.categories.forEach((category, n) => {
      const line = el("tr");
      const name = el("th");
      name.scope = "row";
      const pickIt = button("", `category-${category.key}`, () => pickCategory(category.key));
      pickIt.className = `category k${n % COLOURS}`;
      pickIt.append(n < 9 ? key(String(n + 1)) : "", ` ${category.title}`);
      name.append(pickIt);
      line.append(name);
      const own = levelsOf(asked, category.key);
      for (const level of own.length ? own : [null]) {
        const part = level ? `${category.key}/${level.key}` : category.key;
        const cell = el("td", "num");
        const title = level ? `${category.title}, ${level.title}` : category.title;
        cell.append(stepper(title, counts[part] ?? 0, (value) => setCount(asked, part, value), marked[part] ?? 0));
        line.append(cell);
      }
      body.append(line);
    });
    table.append(top, body);
    const listed = fields().filter((each) => each.counts_into === asked.key || each.kind === "missing");
    const none = el("p", "tools");
    if (asked.explicit) {
      const some = Object.values(counts).some(Boolean);
      const choice = button("No errors ", "no-errors", noErrors);
      choice.append(key("0"));
      choice.setAttribute("aria-pressed", String(!some && !uncounted(state, asked, label)));
      choice.disabled = some;
      none.append(choice);
    }
    return [none, table, ...listed.flatMap((each) => drawEntries(each, state)), ...tools(active)];
  }
  function drawMarks(asked, state, active) {
    const made = [];
    const list = el("div", "categories");
    asked.categories.forEach((category, n) => {
      const pickIt = button("", `category-${category.key}`, () => pickCategory(category.key));
      pickIt.className = `category k${n % COLOURS}`;
      pickIt.append(n < 9 ? key(String(n + 1)) : "", ` ${category.title}`);
      list.append(pickIt);
    });
    made.push(list, ...drawEntries(asked, state));
    const other = missingField();
    if (asked.kind === "marks" && other) made.push(el("h4", "", other.title), ...drawEntries(other, state));
    return [...made, ...tools(active)];
  }
  function tools() {
    const line = el("p", "tools");
    if (missingField()) {
      const add = button("Add a missing finding ", "missing", addMissing);
      add.append(key("m"));
      line.append(add);
    }
    return line.childNodes.length ? [line] : [];
  }
  function drawEntries(asked, state) {
    const entries = answer(state, asked.key, label) ?? [];
    if (!entries.length) return [];
    const list = el("ul", "entries");
    entries.forEach((entry) => {
      const line = el("li");
      const pane = asked.kind === "missing" ? "" : label;
      const text = quoted(pane, entry);
      const name = el("mark", `k${kindOf(asked, entry)}`, describe(asked, entry));
      line.append(name, el("q", "", text));
      if (entry.note) line.append(el("span", "small", ` ${entry.note}`));
      const levels = levelsOf(asked, entry.category);
      if (!state.submitted && levels.length > 1) {
        const { id, ...rest } = entry;
        delete rest.significance;
        const change = button("Change", `change-${id}`, () => begin({ field: asked, entry: rest, change: id }));
        change.setAttribute("aria-label", `Change the significance of ${text}`);
        line.append(change);
      }
      if (!state.submitted) {
        const remove = button("Remove", `remove-${entry.id}`, () => act("remove", { candidate: label, field: asked.key, id: entry.id }));
        remove.setAttribute("aria-label", `Remove ${text}`);
        line.append(remove);
      }
      list.append(line);
    });
    return [list];
  }
  function drawScale(place, value, active) {
    const { field: asked } = place;
    const box = el("div", "scale");
    box.setAttribute("role", "radiogroup");
    box.setAttribute("aria-label", asked.title);
    const values = steps(asked);
    const anchors = new Map(asked.anchors.map(([at, text]) => [whole(at), text]));
    values.forEach((each) => {
      const option = button(whole(each), `${asked.key}-${place.of}-${place.unit ?? ""}-${whole(each)}`, () => setAnswer(place, each));
      option.setAttribute("role", "radio");
      option.setAttribute("aria-checked", String(value === each));
      if (anchors.has(whole(each))) option.title = anchors.get(whole(each));
      if (active) option.classList.add("live");
      box.append(option);
    });
    const both = el("div");
    both.append(box);
    if (anchors.size && place.unit === undefined) {
      const list = el("dl", "anchors");
      for (const [at, text] of anchors) list.append(el("dt", "", at), el("dd", "", text));
      both.append(list);
    }
    return both;
  }
  function drawChoice(place, value, active) {
    const { field: asked } = place;
    const box = el("div", "choice");
    box.setAttribute("role", "radiogroup");
    box.setAttribute("aria-label", asked.title);
    const id = `${asked.key}-${place.of}-${place.unit ?? ""}`;
    optionsOf(asked).forEach((each, n) => {
      const option = button("", `${id}-${each.key}`, () => setChoice(place, each.key));
      option.setAttribute("role", "radio");
      option.setAttribute("aria-checked", String(value?.choice === each.key));
      if (n < 9 && active) option.append(key(String(n + 1)), " ");
      option.append(each.title);
      box.append(option);
    });
    if (asked.reason === "none" || place.unit !== undefined) return [box];
    const wrap = el("label", "reason", t(asked.reason === "required" ? "Reason" : "Reason (if you like)"));
    const text = el("textarea");
    text.rows = 2;
    text.maxLength = 4000;
    text.value = drafts.get(id) ?? value?.reason ?? "";
    text.dataset.key = `${id}-reason`;
    text.disabled = !value;
    text.placeholder = value ? "" : t("choose first");
    text.addEventListener("input", () => { drafts.set(id, text.value); later(id, () => saveReason(place, id)); });
    text.addEventListener("blur", () => saveReason(place, id));
    text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      event.stopPropagation();
      text.blur();
      $("case").focus({ preventScroll: true });
    });
    wrap.append(text);
    return [box, wrap];
  }
  const drafts = new Map(), timers = new Map();
  function later(id, work) {
    clearTimeout(timers.get(id));
    timers.set(id, setTimeout(work, 600));
  }
  function saveReason(place, id) {
    clearTimeout(timers.get(id));
    if (!drafts.has(id)) return;
    const reason = drafts.get(id).trim();
    drafts.delete(id);
    const before = answer(current(), place.field.key, place.of, place.unit);
    if (!before || (before.reason ?? "") === reason) return;
    setAnswer(place, reason ? { choice: before.choice, reason } : { choice: before.choice }, { onward: false });
  }
  function drawNumber(place, value) {
    const { field: asked } = place;
    const box = el("span", "number");
    box.append(stepper(`${asked.title} ${place.unit ?? ""}`, value ?? asked.minimum, (next) => {
      if (next >= asked.minimum && next <= asked.maximum) setAnswer(place, next, { onward: false });
    }, asked.minimum));
    const output = box.querySelector("output");
    if (value === undefined) output.textContent = "–";
    return box;
  }
  const partsOf = (asked) => asked.categories.flatMap((category) => {
    const own = levelsOf(asked, category.key);
    return own.length
      ? own.map((level) => [`${category.key}/${level.key}`, `${category.title}, ${level.title}`])
      : [[category.key, category.title]];
  });
  function drawPlainCounts(place, value, active) {
    const table = el("table", "counts");
    partsOf(place.field).forEach(([part, title], n) => {
      const line = el("tr"), name = el("th"), cell = el("td", "num");
      if (active && n < 9) name.append(key(String(n + 1)), " ");
      name.append(title);
      name.scope = "row";
      cell.append(stepper(`${title} ${place.unit ?? ""}`, value[part] ?? 0, (next) => setPart(place, part, next)));
      line.append(name, cell);
      table.append(line);
    });
    return [table];
  }
  function setPart(place, part, next) {
    if (next < 0 || next > place.field.maximum) return;
    const payload = { candidate: place.of, field: place.field.key, part, value: next || null };
    if (place.unit !== undefined) payload.unit = place.unit;
    act("set", payload);
  }
  // Sentences one below the other; where each asks for much, only the one at hand is open.
  function drawSentences(places, state) {
    const box = el("div", "sentences");
    const folded = places.some(([place]) => place.field.kind === "counts");
    const here = stops()[stop].unit;
    const list = candidate().words;
    for (const unit of new Set(places.map(([place]) => place.unit))) {
      const card = el("section", `sentence${unit === here ? " here" : ""}`);
      const own = places.filter(([place]) => place.unit === unit);
      const text = list.filter((word) => word.sentence === unit).map((word) => word.text).join(" ");
      card.append(el("p", "said", text));
      if (folded && unit !== here) {
        const told = own.map(([place]) => {
          const value = answer(state, place.field.key, place.of, unit);
          const shown = place.field.kind === "counts" ? Object.values(value ?? {}).reduce((sum, each) => sum + each, 0)
            : place.field.kind === "choice" ? (value ? titleOf(optionsOf(place.field), value.choice) : "–") : value ?? "–";
          return `${place.field.title}: ${shown}`;
        });
        card.append(button(told.join(" · "), `sentence-${unit}`, () => { stop = own[0][1]; render(); }));
        box.append(card);
        continue;
      }
      for (const [place, n] of own) {
        const part = el("fieldset", `part${n === stop ? " active" : ""}`);
        part.disabled = state.submitted;
        part.dataset.stop = n;
        part.addEventListener("focusin", () => { if (stop !== n) { stop = n; mark(); } });
        if (own.length > 1) part.append(el("legend", "", place.field.title));
        part.append(...drawField(place, state, n === stop));
        card.append(part);
      }
      box.append(card);
    }
    const wrap = el("section", "stop sentences-of");
    const asked = [...new Set(places.map(([place]) => place.field))];
    wrap.append(el("h3", "", asked.length === 1 ? asked[0].title : t("Sentence by sentence")));
    for (const each of asked) if (each.help) wrap.append(el("p", "small", each.help));
    wrap.append(box);
    return wrap;
  }
  function drawAsking() {
    const box = $("asking");
    box.hidden = !asking;
    if (!asking) return;
    const { next, options, title } = asking;
    const own = next.field.categories.find((each) => each.key === next.entry.category);
    box.replaceChildren(el("b", "", `${own ? `${own.title}: ` : ""}${t(title)}`));
    options.forEach((each, n) => {
      const option = button("", `ask-${each.key}`, () => pick(each.key));
      option.append(key(String(n + 1)), ` ${each.title}`);
      box.append(option);
    });
    const leave = button("Cancel ", "ask-cancel", () => { asking = null; render(); });
    leave.append(key("Esc"));
    box.append(leave);
  }
  function drawOthers() {
    if (!item.others) return [];
    const box = el("section", "others");
    box.append(el("h3", "", item.candidates.length > 1 ? t("What the others said of candidate {0}", label) : t("What the others said")));
    if (!item.others.length) box.append(el("p", "small", t("Nobody has answered yet.")));
    for (const other of item.others) {
      const one = el("details");
      one.open = true;
      one.append(el("summary", "", `${other.name}${other.submitted ? "" : ` (${t("not submitted yet")})`}`));
      const list = el("ul");
      const lines = [...(other.said[""] ?? []), ...(other.said[label] ?? [])];
      for (const line of lines.length ? lines : [t("nothing is wrong")]) list.append(el("li", "", line));
      one.append(list);
      box.append(one);
    }
    return [box];
  }
  function problemText({ message, candidate: of, field: name }) {
    if (!study.words) return message;
    return `${of ? `${t("Candidate {0}", of)}: ` : ""}${field(name).title}: ${t("an answer is missing")}`;
  }
  function drawFoot(state) {
    const left = openProblems().length;
    const box = $("submit");
    const next = unseen();
    box.replaceChildren(state.submitted ? t("Next case ") : next ? t("To candidate {0} ", nameOf(next.label)) : t("Submit and go on "), key("Enter"));
    box.classList.toggle("ready", Boolean(next) || !left || state.submitted);
    $("reopen").hidden = !state.submitted;
    const cannot = $("cannot");
    const whole_ = "" in state.cannot_judge, part = label in state.cannot_judge;
    cannot.disabled = state.submitted;
    cannot.replaceChildren(t(whole_ || part ? "Judge after all " : "Cannot judge "), key("x"));
    $("left").textContent = state.submitted ? t("Submitted.") : next ? "" : !left ? t("Complete.") : left === 1 ? t("1 answer missing") : t("{0} answers missing", left);
    const list = $("problems");
    list.hidden = !showProblems || !left || state.submitted;
    list.replaceChildren(...openProblems().slice(0, 6).map((problem, n) => {
      const line = el("li");
      line.append(button(problemText(problem), `problem-${n}`, () => {
        if (problem.candidate) choose(problem.candidate);
        goTo(problem.field, problem.sentence);
      }));
      return line;
    }));
  }
  function pictures() {
    const box = $("pictures");
    box.hidden = !item.images.length;
    box.replaceChildren();
    const strip = el("div");
    box.append(strip, ...item.images.filter((each) => each.problem).map((each) => el("p", "cannot", `${each.name}: ${each.problem}`)));
    item.images = item.images.filter((each) => !each.problem);
    if (item.images.length) radgaugeViewer.mount(strip, item.images);
  }

  // ---------------------------------------------------------------- dialogs
  function cannotJudge() {
    const state = current();
    if (state.submitted) return tell("This case is submitted. Press e to open it again.", "warn");
    if ("" in state.cannot_judge) return act("can_judge", { candidate: "" });
    if (label in state.cannot_judge) return act("can_judge", { candidate: label });
    $("cannot-reason").value = "";
    $("cannot-which").hidden = item.candidates.length < 2;
    $("cannot-candidate-name").textContent = t("candidate {0} only", label);
    $("dialog-cannot").showModal();
  }
  $("form-cannot").addEventListener("submit", (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const typed = $("cannot-reason").value.trim();
    const reason = typed || form.get("why");
    if (!reason) return $("cannot-reason").focus();
    $("dialog-cannot").close();
    act("cannot_judge", { candidate: form.get("what") === "candidate" && item.candidates.length > 1 ? label : "", reason });
    $("case").focus({ preventScroll: true });
  });
  $("form-missing").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = $("missing-text").value.trim();
    if (!text) return;
    $("dialog-missing").close();
    selection = null;
    begin({ field: missingField(), entry: { text } });
  });
  for (const each of document.querySelectorAll("dialog [data-close]")) each.addEventListener("click", () => each.closest("dialog").close());
  for (const [id, work] of [["undo", undo], ["submit", submit], ["cannot", cannotJudge], ["reopen", () => act("reopen")],
    ["keys", () => $("dialog-keys").showModal()], ["previous", () => step(-1)], ["next", () => step(1)]]) {
    $(id).addEventListener("click", work);
  }
  async function undo() {
    if (!await settled()) return;
    if (!base.can_undo) return tell("There is nothing to undo.");
    selection = asking = null;
    act("undo");
  }

  // ---------------------------------------------------------------- keys
  let minus = false;
  addEventListener("keydown", (event) => {
    if (moving) { if (!event.ctrlKey && !event.metaKey && !event.altKey) event.preventDefault(); return; }
    if (!item || document.querySelector("dialog[open]")) {
      if (/^[1-9]$/.test(event.key) && $("dialog-cannot").open && event.target.id !== "cannot-reason") {
        const option = $("dialog-cannot").querySelectorAll("input[name=why]")[Number(event.key) - 1];
        if (option) { option.checked = true; event.preventDefault(); }
      }
      return;
    }
    const typing = ["TEXTAREA", "INPUT", "SELECT"].includes(event.target.tagName);
    if (typing) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if ((event.ctrlKey || event.metaKey) && event.key === "z") { event.preventDefault(); return undo(); }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const onButton = event.target.closest("button, a, summary");
    if (onButton && (event.key === "Enter" || event.key === " ")) return;
    const digit = /^[0-9]$/.test(event.key) ? Number(event.key) : null;
    if (digit !== null) { event.preventDefault(); number(digit); minus = false; return; }
    const keys = {
      j: () => step(1), k: () => step(-1), l: () => besides(1), h: () => besides(-1),
      q: () => moveStop(1), Q: () => moveStop(-1),
      ArrowRight: () => moveCursor(1, event.shiftKey), ArrowLeft: () => moveCursor(-1, event.shiftKey),
      ArrowDown: () => moveCursor(1, event.shiftKey, true), ArrowUp: () => moveCursor(-1, event.shiftKey, true),
      r: () => item.reference && select("", 0), c: () => select(label, 0),
      m: addMissing, u: undo, x: cannotJudge, e: () => base.submitted && act("reopen"),
      Enter: submit, "-": () => { minus = true; tell("Minus: the next category is counted down."); },
      i: () => item.images.length && radgaugeViewer.enlarge(item.images, 0),
      a: () => { showSuggestions = !showSuggestions; render(); },
      "?": () => $("dialog-keys").showModal(),
      Escape: () => { asking = null; selection = null; minus = false; notice = ""; render(); $("case").focus({ preventScroll: true }); },
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  function number(digit) {
    if (current().submitted) return tell("This case is submitted. Press e to open it again.", "warn");
    if (asking) {
      const option = asking.options[digit - 1];
      return option && pick(option.key);
    }
    const place = stops()[stop];
    const { field: asked } = place;
    if (digit === 0 && asked.explicit) return noErrors();
    if (asked.kind === "rating") {
      const values = steps(asked);
      const value = values.every(Number.isInteger) && values.at(-1) <= 9 ? values.find((each) => each === digit) : values[digit - 1];
      return value === undefined ? undefined : setAnswer(place, value);
    }
    if (asked.kind === "choice") {
      const option = optionsOf(asked)[digit - 1];
      return option && setChoice(place, option.key);
    }
    if (asked.kind === "number") {
      return digit >= asked.minimum && digit <= asked.maximum ? setAnswer(place, digit) : undefined;
    }
    if (asked.kind === "counts" && asked.key !== counted()?.key) return sentenceCount(place, digit);
    const category = categories()[digit - 1];
    if (category) pickCategory(category.key, minus ? -1 : 1);
  }

  function sentenceCount(place, digit) {
    const part = partsOf(place.field)[digit - 1]?.[0];
    if (!part) return;
    const next = (answer(current(), place.field.key, place.of, place.unit)?.[part] ?? 0) + (minus ? -1 : 1);
    setPart(place, part, next);
  }

  addEventListener("popstate", () => {
    const found = /^\/case\/(\w+)$/.exec(location.pathname);
    if (found) go(found[1], { push: false });
  });
  addEventListener("beforeunload", (event) => { if (queue.length && !leaving) event.preventDefault(); });
  (async () => {
    study = await get("/api/study");
    await go(document.body.dataset.case, { push: false });
  })();
})();
