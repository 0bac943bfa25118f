"use strict";
// A viewer for the pictures of a case: thumbnails; a click enlarges; wheel, keys or buttons zoom, dragging moves;
// dragging with Shift or the right button changes window and level. Everything is drawn on a canvas from decoded
// bytes, so a page needs no permission to load images. Pictures: see radgauge.show.viewer.picture_record.
window.radgaugeViewer = (() => {
  const el = (name, cls, text) => {
    const node = document.createElement(name);
    if (cls) node.className = cls;
    if (text !== undefined) node.textContent = text;
    return node;
  };

  async function bytesOf(picture) {
    if (picture.data !== undefined) {
      return Uint8Array.from(atob(picture.data), (letter) => letter.charCodeAt(0));
    }
    const answer = await fetch(picture.url, { credentials: "same-origin" });
    if (!answer.ok) throw new Error(`the picture was not sent (${answer.status})`);
    return new Uint8Array(await answer.arrayBuffer());
  }

  // Levels 0..65535 (or 0..255), one per pixel; kept with the record once decoded.
  const decoded = new WeakMap();
  function decode(picture) {
    if (!decoded.has(picture)) decoded.set(picture, decodeNow(picture));
    return decoded.get(picture);
  }
  async function decodeNow(picture) {
    const blob = new Blob([await bytesOf(picture)], { type: picture.type });
    const bitmap = await createImageBitmap(blob, { colorSpaceConversion: "none", premultiplyAlpha: "none" });
    const canvas = el("canvas");
    canvas.width = bitmap.width;
    canvas.height = bitmap.height;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(bitmap, 0, 0);
    bitmap.close();
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    const levels = new Uint16Array(canvas.width * canvas.height);
    for (let at = 0; at < levels.length; at++) {
      levels[at] = picture.deep ? data[4 * at] * 256 + data[4 * at + 1] : data[4 * at];
    }
    return { levels, width: canvas.width, height: canvas.height };
  }

  // Values through the window: (value - centre) / width + 1/2, from black to white.
  function shade(canvas, picture, pixels, view) {
    canvas.width = pixels.width;
    canvas.height = pixels.height;
    const context = canvas.getContext("2d");
    const image = context.createImageData(pixels.width, pixels.height);
    const table = new Uint8ClampedArray(picture.deep ? 65536 : 256);
    const inverted = picture.inverted !== view.inverted;
    for (let level = 0; level < table.length; level++) {
      const share = (picture.low + picture.step * level - view.centre) / view.width + 0.5;
      table[level] = Math.round(255 * Math.min(1, Math.max(0, inverted ? 1 - share : share)));
    }
    for (let at = 0; at < pixels.levels.length; at++) {
      const grey = table[pixels.levels[at]];
      image.data[4 * at] = image.data[4 * at + 1] = image.data[4 * at + 2] = grey;
      image.data[4 * at + 3] = 255;
    }
    context.putImageData(image, 0, 0);
  }
  const start = (picture) => ({ centre: picture.window[0], width: picture.window[1], inverted: false, zoom: 1, x: 0, y: 0 });

  function mount(target, pictures) {
    const strip = el("div", "viewer-strip");
    pictures.forEach((picture, at) => {
      const button = el("button", "viewer-thumb");
      button.type = "button";
      button.title = `Enlarge ${picture.name}`;
      button.setAttribute("aria-label", button.title);
      const canvas = el("canvas");
      button.append(canvas, el("span", "", picture.name));
      button.addEventListener("click", () => enlarge(pictures, at));
      strip.append(button);
      decode(picture).then((pixels) => shade(canvas, picture, pixels, start(picture)), (error) => {
        button.disabled = true;
        canvas.replaceWith(el("span", "viewer-none", `cannot be shown: ${error.message}`));
      });
    });
    target.replaceChildren(strip);
  }

  function enlarge(pictures, first) {
    const dialog = el("dialog", "viewer");
    dialog.setAttribute("aria-label", "Picture");
    const head = el("div", "viewer-head");
    const name = el("b");
    const said = el("span", "viewer-said");
    const stage = el("div", "viewer-stage");
    stage.tabIndex = 0;
    const canvas = el("canvas");
    stage.append(canvas);
    let at = first, view = start(pictures[first]), pixels = null, waiting = 0;

    const place = () => {
      canvas.style.transform = `translate(${view.x}px, ${view.y}px) scale(${view.zoom})`;
    };
    const tell = () => {
      const picture = pictures[at];
      const digits = Math.abs(view.width) < 10 ? 2 : 0;
      said.textContent = `level ${view.centre.toFixed(digits)}, window ${view.width.toFixed(digits)} · ` +
        `${Math.round(100 * view.zoom)} % · ${picture.width} × ${picture.height}` +
        (picture.full[0] > picture.width ? ` of ${picture.full[0]} × ${picture.full[1]}` : "");
    };
    const redraw = () => {
      if (waiting || !pixels) return;
      waiting = requestAnimationFrame(() => {
        waiting = 0;
        shade(canvas, pictures[at], pixels, view);
        tell();
      });
    };
    const fit = () => { view.zoom = 1; view.x = view.y = 0; place(); tell(); };
    const zoomBy = (factor, x = 0, y = 0) => {
      const next = Math.min(16, Math.max(0.5, view.zoom * factor)), ratio = next / view.zoom;
      view.x = x - (x - view.x) * ratio;
      view.y = y - (y - view.y) * ratio;
      view.zoom = next;
      place();
      tell();
    };
    const windowBy = (centre, width) => {
      const [, whole] = pictures[at].window;
      view.centre += centre * whole;
      view.width = Math.max(whole / 200, view.width + width * whole);
      redraw();
    };
    const direction = () => (pictures[at].inverted !== view.inverted ? -1 : 1); // where high values are dark
    const reset = () => { view = start(pictures[at]); place(); redraw(); };
    const open = async (next) => {
      at = (next + pictures.length) % pictures.length;
      view = start(pictures[at]);
      pixels = null;
      name.textContent = pictures.length > 1 ? `${pictures[at].name} (${at + 1} of ${pictures.length})` : pictures[at].name;
      const wanted = at;
      const found = await decode(pictures[at]);
      if (wanted !== at) return;
      pixels = found;
      place();
      shade(canvas, pictures[at], pixels, view);
      tell();
    };
    const act = (text, title, work) => {
      const button = el("button", "", text);
      button.type = "button";
      button.title = title;
      button.setAttribute("aria-label", title);
      button.addEventListener("click", work);
      return button;
    };
    const tools = el("div", "viewer-tools");
    if (pictures.length > 1) {
      tools.append(act("←", "Previous picture", () => open(at - 1)), act("→", "Next picture", () => open(at + 1)));
    }
    tools.append(
      act("+", "Zoom in (+)", () => zoomBy(1.25)), act("−", "Zoom out (-)", () => zoomBy(0.8)), act("Fit", "Whole picture (0)", fit),
      act("Brighter", "Brighter: the level moves", () => windowBy(-0.05 * direction(), 0)),
      act("Darker", "Darker: the level moves", () => windowBy(0.05 * direction(), 0)),
      act("Contrast +", "Narrow the window", () => windowBy(0, -0.1)), act("Contrast −", "Widen the window", () => windowBy(0, 0.1)),
      act("Invert", "Black and white exchanged (i)", () => { view.inverted = !view.inverted; redraw(); }),
      act("Reset", "As it was first (r)", reset), act("Close", "Close (Esc)", () => dialog.close()));
    head.append(name, said, tools);
    const hint = el("p", "viewer-hint", "Wheel or + and − zoom, dragging moves; dragging with Shift or the right button changes window (sideways) and level (up and down). Not for diagnosis.");
    dialog.append(head, stage, hint);

    stage.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = stage.getBoundingClientRect();
      zoomBy(event.deltaY < 0 ? 1.15 : 1 / 1.15, event.clientX - box.left - box.width / 2, event.clientY - box.top - box.height / 2);
    }, { passive: false });
    stage.addEventListener("contextmenu", (event) => event.preventDefault());
    stage.addEventListener("dblclick", fit);
    stage.addEventListener("pointerdown", (event) => {
      stage.setPointerCapture(event.pointerId);
      const windowing = event.shiftKey || event.button === 2;
      let x = event.clientX, y = event.clientY;
      const move = (next) => {
        const right = next.clientX - x, down = next.clientY - y;
        x = next.clientX;
        y = next.clientY;
        if (windowing) windowBy(down / 400, right / 400);
        else { view.x += right; view.y += down; place(); }
      };
      const end = () => {
        stage.removeEventListener("pointermove", move);
        stage.removeEventListener("pointerup", end);
        stage.removeEventListener("pointercancel", end);
      };
      stage.addEventListener("pointermove", move);
      stage.addEventListener("pointerup", end);
      stage.addEventListener("pointercancel", end);
    });
    dialog.addEventListener("keydown", (event) => {
      const keys = {
        "+": () => zoomBy(1.25), "=": () => zoomBy(1.25), "-": () => zoomBy(0.8), "0": fit, r: reset,
        i: () => { view.inverted = !view.inverted; redraw(); },
        ArrowLeft: () => open(at - 1), ArrowRight: () => open(at + 1),
      };
      event.stopPropagation();
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    stage.focus();
    open(first);
    return dialog;
  }
  return { mount, enlarge };
})();
