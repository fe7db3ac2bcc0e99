// Follows the feed: each event is one piece of the page, rendered by the server, put in by morphing
// so that focus, selection and open details stay. A broken feed is said and greys the page.
import htmx from "../vendor/htmx.esm.min.js";

const QUIET_MS = 20_000; // the age of the data alone changes every second
const stale = document.getElementById("stale");
let lastHeard = Date.now();
let source;

function heard() {
  lastHeard = Date.now();
  document.body.classList.remove("stale");
  stale.hidden = true;
}

function lost() {
  if (document.body.classList.contains("stale")) return;
  document.body.classList.add("stale");
  const said = stale.querySelector("span");
  const time = new Date(lastHeard).toLocaleTimeString("en-GB");
  said.textContent = said.dataset.template.replace("{time}", time);
  stale.hidden = false;
}

function entitle() {
  const count = document.querySelector('[data-live="count"] .count')?.textContent;
  const plain = document.title.replace(/^\(\d+\) /, "");
  document.title = count ? `(${count}) ${plain}` : plain;
}

function put(name, text) {
  for (const target of document.querySelectorAll(`[data-live="${name}"]`)) {
    if (target.contains(document.activeElement) && document.activeElement.matches("input, select, textarea")) continue;
    htmx.swap({ text, target, sourceElement: target, swap: "innerMorph" });
  }
  if (name === "count") entitle();
  document.dispatchEvent(new CustomEvent("live", { detail: name }));
}

function follow() {
  source = new EventSource(document.body.dataset.feed);
  source.onopen = heard;
  source.onerror = lost;
  const names = new Set([...document.querySelectorAll("[data-live]")].map((part) => part.dataset.live));
  for (const name of names) {
    source.addEventListener(name, (event) => { heard(); put(name, event.data); });
  }
}

if (document.body.dataset.feed) {
  entitle();
  follow();
  setInterval(() => {
    if (document.hidden || Date.now() - lastHeard < QUIET_MS) return;
    lost();
    if (source.readyState === EventSource.CLOSED) follow(); // the browser gave up; we do not
  }, 3_000);
  // A browser keeps only six streams to one host: a tab nobody looks at gives its own back.
  document.addEventListener("visibilitychange", () => {
    source.close();
    if (!document.hidden) { lastHeard = Date.now(); follow(); }
  });
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", (event) => { if (event.persisted) follow(); });
}
