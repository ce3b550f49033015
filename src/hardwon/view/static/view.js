// Keeps a page up to date while a run goes on, and moves by keys. Pages work without it.
"use strict";
(() => {
  const body = document.body;
  const status = document.querySelector("[data-live]");
  const least = 700; // milliseconds between two looks
  let source = null, seen = body.dataset.seen, waiting = null, looking = false, last = 0, took = 0;

  const say = (text, on) => {
    if (!status) return;
    status.hidden = false;
    status.textContent = text;
    status.className = "live " + (on ? "on" : "off");
  };

  const beingWritten = (part) =>
    [...part.querySelectorAll(".what-if textarea, .what-if input")].some((field) => field.value !== field.defaultValue) ||
    [...part.querySelectorAll(".what-if option")].some((choice) => choice.selected !== choice.defaultSelected);

  // What the reader has opened or ticked stays so.
  const keep = (old, part) => {
    for (const open of part.querySelectorAll("details[id]")) {
      const before = document.getElementById(open.id);
      if (before) open.open = before.open;
    }
    for (const box of part.querySelectorAll("input[type=checkbox]")) {
      const before = old.querySelector(`input[value="${CSS.escape(box.value)}"]`);
      if (before) box.toggleAttribute("checked", before.checked);
    }
    for (const box of old.querySelectorAll("input[type=checkbox]")) box.toggleAttribute("checked", box.checked);
  };

  const replace = (old, part) => {
    keep(old, part);
    if (old.innerHTML === part.innerHTML || beingWritten(old)) return;
    const focus = old.contains(document.activeElement) ? document.activeElement : null;
    const mark = focus && (focus.getAttribute("href") || focus.id);
    const left = old.scrollLeft;
    old.replaceChildren(...part.childNodes);
    old.scrollLeft = left;
    old.classList.remove("fresh");
    void old.offsetWidth; // so that it lights up again
    old.classList.add("fresh");
    const again = mark && [...old.querySelectorAll("a[href], [id]")].find((e) => e.getAttribute("href") === mark || e.id === mark);
    if (again) again.focus({ preventScroll: true });
  };

  const names = (within) => [...within.querySelectorAll("[data-part]")].map((part) => part.id);

  const swap = (fresh) => {
    const main = document.querySelector("main");
    if (names(main).join() !== names(fresh).join()) return replace(main, fresh.querySelector("main"));
    for (const part of fresh.querySelectorAll("[data-part]")) replace(document.getElementById(part.id), part);
  };

  const look = async () => {
    waiting = null;
    if (looking) return;
    looking = true;
    const began = performance.now();
    try {
      const answer = await fetch(location.href, { credentials: "same-origin", cache: "no-store" });
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (fresh.querySelector("main")) swap(fresh);
    } catch {
      say("the view can not be reached; this page may be old", false);
    }
    last = performance.now();
    took = last - began;
    looking = false;
  };

  const soon = () => {
    if (waiting !== null) return;
    const pause = Math.max(least, 20 * took); // a page that is dear to make is made less often
    waiting = setTimeout(look, Math.max(0, last + pause - performance.now()));
  };

  const listen = () => {
    source = new EventSource(body.dataset.events);
    source.onopen = () => say("live", true);
    source.onerror = () => say("connection lost; this page may be old", false);
    source.onmessage = (event) => {
      if (event.data === seen) return; // what the page was made from, or has taken in since
      seen = event.data;
      if ("ask" in body.dataset) say("there is more by now: reload to reckon again", true);
      else soon();
    };
  };

  if (body.dataset.events && "EventSource" in window) {
    listen();
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) { source.close(); source = null; }
      else if (!source) { listen(); if (!("ask" in body.dataset)) soon(); }
    });
  }

  document.addEventListener("change", (event) => {
    if (event.target.matches(".filter select")) event.target.form.requestSubmit();
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, select, textarea")) return;
    const go = (link) => { if (link) { event.preventDefault(); link.click(); } };
    if (event.key === "/") {
      const field = document.querySelector("[data-find]");
      if (field) { event.preventDefault(); field.focus(); }
    } else if (event.key === "[") go(document.querySelector("a[rel=prev]"));
    else if (event.key === "]") go(document.querySelector("a[rel=next]"));
    else if (event.key === "j" || event.key === "k") {
      const steps = [...document.querySelectorAll(".step-of")];
      const at = steps.indexOf(document.activeElement);
      const next = steps[Math.min(steps.length - 1, Math.max(0, at + (event.key === "j" ? 1 : -1)))];
      if (next) { event.preventDefault(); next.focus(); }
    }
  });
})();
