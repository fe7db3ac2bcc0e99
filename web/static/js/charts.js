// Four charts of a model on one time axis, decisions as marks on it. Drawn by uPlot, coloured by the
// page's own tokens, read out beside each title so that the legend needs no room.
import uPlot from "../vendor/uPlot.esm.js";
import { colour, faded } from "./colours.js";
import { KINDS } from "./chart-kinds.js";
import { placeMarks } from "./marks.js";

const EVERY_MS = 5_000;
const Y_WIDTH = 50;
const X_HEIGHT = 30;
const RIGHT = 40; // room on the right in every chart, so that all four share one time axis
const HEIGHT = 128;

let charts = [];
let fetched = 0;
let shown = ""; // what the charts are of
let sinceStart = false;

// Of a live model the time of day; of a run the time since it began.
function timeOf(at, fine) {
  if (!sinceStart) return new Date(at * 1000).toLocaleTimeString("en-GB", fine ? {} : { hour: "2-digit", minute: "2-digit" });
  const parts = [Math.floor(at / 3600), Math.floor(at / 60) % 60, ...(fine ? [at % 60] : [])];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}

function axis(last) {
  return { show: last, stroke: colour("--ink-3"), font: `11px ${getComputedStyle(document.body).fontFamily}`, size: X_HEIGHT, grid: { show: false }, ticks: { stroke: colour("--line-strong"), size: 4 },
    values: (u, ticks, _i, _space, step) => ticks.map((t) => timeOf(t, step < 60)) };
}

function scaleAxis(kind) {
  return { values: (_u, ticks) => ticks.map((x) => (kind.tick ?? String)(x)), stroke: colour("--ink-3"), font: `11px ${getComputedStyle(document.body).fontFamily}`, size: Y_WIDTH, gap: 6, incrs: kind.whole ? [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] : undefined, grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, space: 34 };
}

function rightAxis(right) {
  return { ...scaleAxis({ tick: right.write }), scale: right.scale, side: 1, size: RIGHT, grid: { show: false } };
}

function limits(kind, series) {
  return (u) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.lineWidth = devicePixelRatio;
    ctx.strokeStyle = colour("--line-strong");
    for (const mark of series.marks) {
      const x = Math.round(u.valToPos(mark.at, "x", true));
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.beginPath(); ctx.moveTo(x, bbox.top); ctx.lineTo(x, bbox.top + bbox.height); ctx.stroke();
    }
    ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
    for (const limit of kind.limits(series)) {
      const y = Math.round(u.valToPos(limit.value, limit.scale ?? "y", true));
      if (y < bbox.top) continue;
      ctx.strokeStyle = colour(limit.tone ?? "--warn");
      ctx.beginPath(); ctx.moveTo(bbox.left, y); ctx.lineTo(bbox.left + bbox.width, y); ctx.stroke();
    }
    ctx.restore();
  };
}

function latest(values, index) {
  // Lines of other experts have points between ours: the newest known one nearby speaks.
  for (let i = index; i > index - 12 && i >= 0; i--) if (values?.[i] != null) return values[i];
  return undefined;
}

function read(figure, kind, series, words) {
  const place = figure.querySelector(".reading");
  return (u) => {
    const last = u.data[0].findLastIndex((at) => at <= series.at.at(-1));
    const index = u.cursor.idx ?? last;
    const lines = kind.lines(series, words);
    const shown = lines.map((line, i) => ({ ...line, value: latest(u.data[i + 1], index), below: lines[i + 1]?.stacked ? u.data[i + 2]?.[index] : 0 }));
    place.replaceChildren(...shown.filter((line) => line.label && line.value != null).map((line) => {
      const item = document.createElement("span");
      const key = document.createElement("i");
      key.className = line.key ?? "";
      key.style.setProperty("--tone", line.stroke());
      const figureOf = document.createElement("b");
      figureOf.textContent = line.write(line.stacked ? line.value - (line.below ?? 0) : line.value);
      item.append(key, `${line.label} `, figureOf);
      return item;
    }));
  };
}

function draw(figure, series, words, last, range) {
  const kind = KINDS[figure.dataset.chart];
  const plot = figure.querySelector(".plot");
  const lines = kind.lines(series, words);
  const chart = new uPlot({
    width: plot.clientWidth || 600,
    height: HEIGHT + (last ? X_HEIGHT : 0),
    padding: [8, kind.right ? 0 : RIGHT, last ? 0 : 4, 0],
    legend: { show: false },
    cursor: { sync: { key: "model" }, y: false, drag: { x: false, y: false }, points: { size: 6 } },
    scales: { x: { range: () => range() }, y: { range: (_u, _min, max) => [0, kind.top(series, max)] }, ...(kind.right && { [kind.right.scale]: { range: () => [0, kind.topRight(series)] } }) },
    axes: [axis(last), scaleAxis(kind), ...(kind.right ? [rightAxis(kind.right)] : [])],
    series: [{}, ...lines.map((line) => ({ scale: line.scale ?? "y", stroke: line.stroke(), width: line.width ?? 1.5, dash: line.dash, fill: line.fill?.(), paths: line.stepped ? uPlot.paths.stepped({ align: 1 }) : undefined, points: { show: false }, spanGaps: false }))],
    bands: kind.bands?.(series, faded) ?? [],
    hooks: { draw: [limits(kind, series)], setCursor: [read(figure, kind, series, words)], ready: [read(figure, kind, series, words), ...(last ? [(u) => placeMarks(u, series.marks)] : [])] },
  }, kind.data(series), plot);
  return { chart, figure, plot };
}

function redraw(panel, series) {
  sinceStart = "sinceStart" in panel.dataset;
  for (const one of charts) one.chart.destroy();
  const words = JSON.parse(panel.querySelector("[data-words]").dataset.words);
  const figures = [...panel.querySelectorAll("figure[data-chart]")];
  if (!series.at.length) {
    figures[0].querySelector(".plot").textContent = words.empty;
    charts = [];
    return;
  }
  const first = series.at[0];
  const end = Math.max(series.at.at(-1), ...series.forecasts.flatMap((line) => line.at.slice(-1)));
  const range = () => [first, Math.max(end, first + 60)];
  for (const figure of figures) figure.querySelector(".plot").replaceChildren();
  charts = figures.map((figure, i) => draw(figure, series, words, i === figures.length - 1, range));
}

function addressed(one) {
  return one ? `${one.dataset.series} ${one.dataset.model ?? ""}` : "";
}

// What is asked for may be gone, or another, when its answer comes: the page lives on meanwhile.
async function refresh() {
  const asked = document.querySelector("[data-series]");
  const address = addressed(asked);
  shown = document.hidden ? "" : address;
  if (!shown) return;
  fetched = Date.now();
  const answer = await fetch(asked.dataset.series, { headers: { Accept: "application/json" } });
  const series = answer.ok && await answer.json();
  const panel = document.querySelector("[data-series]");
  if (!series || addressed(panel) !== address) return;
  redraw(panel, "model" in panel.dataset ? { forecasts: [], marks: [], ...series[panel.dataset.model] } : series);
}

document.addEventListener("live", (event) => {
  const gone = charts.some(({ plot }) => !plot.isConnected);
  const another = addressed(document.querySelector("[data-series]")) !== shown;
  if (gone || another || (event.detail === "model" && Date.now() - fetched > EVERY_MS)) refresh();
});
document.addEventListener("theme", refresh);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", refresh);
new ResizeObserver(() => {
  for (const { chart, plot } of charts) chart.setSize({ width: plot.clientWidth, height: chart.height });
}).observe(document.querySelector("main"));
refresh();
