// Shows follow-ups at once, keys for everything, words marked by dragging. Pages work without it.
"use strict";
(() => {
  document.documentElement.classList.add("js");
  const form = document.querySelector("form.answering");
  if (!form) return;
  const questions = [...form.querySelectorAll("fieldset.question")];
  const named = new Map(questions.map((field) => [field.dataset.question, field]));
  const chosen = (field) => [...field.querySelectorAll("input:checked")].map((input) => input.value);

  const asked = (field) =>
    Object.entries(JSON.parse(field.dataset.when)).every(([name, wanted]) => {
      const other = named.get(name);
      return other && asked(other) && chosen(other).some((value) => wanted.includes(value));
    });
  const update = () => {
    for (const field of questions) {
      const on = asked(field);
      field.hidden = !on;
      field.disabled = !on;
    }
    mark();
  };

  const choices = (field) => [...field.querySelectorAll(".option input")];
  const open = () => questions.filter((field) => !field.hidden);
  const current = () => {
    const focused = document.activeElement.closest("fieldset.question");
    if (focused && choices(focused).length) return focused;
    const listed = open().filter((field) => choices(field).length);
    return listed.find((field) => !chosen(field).length) || listed[listed.length - 1];
  };
  const mark = () => {
    const now = current();
    for (const field of questions) field.classList.toggle("current", field === now);
  };
  form.addEventListener("change", update);
  form.addEventListener("focusin", mark);
  update();

  // A form that was sent is not sent twice by a second press.
  form.addEventListener("submit", () => {
    setTimeout(() => form.querySelectorAll("button").forEach((button) => { button.disabled = true; }));
  });
  addEventListener("pageshow", () => {
    form.querySelectorAll("button").forEach((button) => { button.disabled = false; });
    update();
  });

  const on = document.getElementById("keys-on");
  if (on) {
    on.checked = localStorage.getItem("keys") !== "off";
    on.addEventListener("change", () => localStorage.setItem("keys", on.checked ? "on" : "off"));
  }
  const flip = (id) => {
    const details = document.getElementById(id);
    if (!details) return;
    details.open = !details.open;
    details.scrollIntoView({ block: "nearest" });
    const note = details.open && details.querySelector("textarea");
    if (note) note.focus();
  };
  const press = (selector) => {
    const button = document.querySelector(selector);
    if (button) button.click();
    return button;
  };
  const choose = (number) => {
    const field = current();
    const input = field && choices(field)[number - 1];
    if (!input) return;
    input.click();
    if (input.type === "radio") {
      if (document.activeElement.closest("fieldset.question")) document.activeElement.blur();
      mark();
      const next = current();
      if (next) next.scrollIntoView({ block: "nearest" });
    }
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("textarea, select, input:not([type=radio]):not([type=checkbox])");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || (on && !on.checked)) return;
    if (/^[1-9]$/.test(event.key)) choose(Number(event.key));
    else if (event.key === "t") flip("post");
    else if (event.key === "d") flip("definitions");
    else if (event.key === "f") flip("flagging");
    else if (event.key === "k") press("button[value=skip]");
    else if (event.key === "u") press("button[form=undo]");
    else if (event.key !== "Enter" || event.target.closest("a, button, summary") || !press("button[value=vote]")) return;
    event.preventDefault();
  });

  // Words: drag over several, arrows from one to the next.
  form.querySelectorAll(".words-list").forEach((list) => {
    const boxes = [...list.querySelectorAll("input")];
    let dragged = null;
    list.addEventListener("pointerover", (event) => {
      const label = event.target.closest("label.word");
      if (dragged === null || !label || event.buttons !== 1) return;
      label.firstElementChild.checked = dragged;
    });
    list.addEventListener("pointerdown", (event) => {
      const label = event.target.closest("label.word");
      dragged = label && event.pointerType === "mouse" ? !label.firstElementChild.checked : null;
    });
    list.addEventListener("pointerout", (event) => {
      const label = event.target.closest("label.word");
      if (dragged !== null && label && event.buttons === 1) label.firstElementChild.checked = dragged;
    });
    addEventListener("pointerup", () => { dragged = null; });
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const to = step && boxes[boxes.indexOf(event.target) + step];
      if (to) { to.focus(); event.preventDefault(); }
    });
  });
})();
