// 1-8 open the rail's pages, / searches, ? helps, j and k walk the rows, Enter opens one.
const typing = (target) => target.closest("input, select, textarea, [contenteditable], dialog[open]");

function rows() {
  return [...document.querySelectorAll("tbody tr[data-href]")].filter((row) => row.offsetParent);
}

function walk(step) {
  const all = rows();
  if (!all.length) return;
  const at = all.findIndex((row) => row.hasAttribute("data-selected"));
  const next = all[Math.min(Math.max(at + step, 0), all.length - 1)];
  all[at]?.removeAttribute("data-selected");
  next.setAttribute("data-selected", "");
  next.scrollIntoView({ block: "nearest" });
  next.querySelector("a")?.focus({ preventScroll: true });
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) {
    if (event.key === "Escape" && event.target.id === "search") event.target.blur();
    return;
  }
  const page = document.querySelector(`.rail a[data-key="${CSS.escape(event.key)}"]`);
  const acts = {
    "/": () => document.getElementById("search")?.focus(),
    "?": () => document.getElementById("help-link")?.click(),
    j: () => walk(1),
    k: () => walk(-1),
  };
  const act = page ? () => page.click() : acts[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

addEventListener("click", (event) => {
  const row = event.target.closest("tr[data-href]");
  if (row && !event.target.closest("a, button, input, label, summary") && !String(getSelection())) {
    location.assign(row.dataset.href);
  }
});
