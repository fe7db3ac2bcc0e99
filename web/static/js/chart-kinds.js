// What each of the four charts draws. Classes are told apart by dash, not by colour: colour is state.
import uPlot from "../vendor/uPlot.esm.js";
import { colour, faded } from "./colours.js";

const CLASSES = ["high", "medium", "low"];
const DASHES = { high: undefined, medium: [6, 3], low: [2, 3] };
const KEYS = { high: "", medium: "dash", low: "dots" };
const LANES = ["serving", "warm", "loading", "draining"];

const digits = (x) => (x >= 1000 ? x.toFixed(0) : String(Number(x.toPrecision(3))));
const seconds = (x) => (x > 0 && x < 0.1 ? `${digits(x * 1000)} ms` : `${digits(x)} s`);
const known = (line) => line.some((value) => value !== null);
const model = () => `--${document.querySelector("[data-tone]").dataset.tone}`;
const present = (series, name) => CLASSES.filter((one) => known(series[name][one] ?? []));
const sum = (series, name) => series.at.map((_, i) => {
  const parts = CLASSES.map((one) => series[name][one]?.[i]).filter((x) => x != null);
  return parts.length ? parts.reduce((a, b) => a + b, 0) : null;
});
const largest = (line) => Math.max(0, ...(line ?? []).filter((x) => x !== null));
const whole = (x) => String(Math.round(x));
const promised = (series) => present(series, "wait_p99").filter((one) => series.wait_limits[one]);
const above = (max, limit) => Math.max((max ?? 0) * 1.12, (limit ?? 0) * 1.25, 1e-3);

function trusted(series) {
  return series.forecasts.find((line) => line.trusted) ?? series.forecasts[0];
}

export const KINDS = {
  arrivals: {
    lines: (series, words) => {
      const lines = [{ label: words.all, write: (x) => `${digits(x)}/s`, stroke: () => colour("--ink-2") }];
      if (!trusted(series)) return lines;
      const dim = () => faded("--accent", 0.0);
      return [...lines, { label: words.forecast, key: "dash", dash: [5, 4], write: (x) => `${digits(x)}/s`, stroke: () => colour("--accent") }, { stroke: dim, width: 0 }, { stroke: dim, width: 0 }];
    },
    data: (series) => {
      const line = trusted(series);
      const own = [series.at, sum(series, "arrivals")];
      return line ? uPlot.join([own, [line.at, line.rate, line.high, line.low]]) : own;
    },
    bands: (series, fade) => (trusted(series) ? [{ series: [3, 4], fill: fade("--accent", 0.12) }] : []),
    limits: () => [],
    top: (_series, max) => above(max),
  },
  queue: {
    right: { scale: "n", write: digits },
    lines: (series, words) => [
      { label: words.drain, write: seconds, stroke: () => colour("--ink"), fill: () => faded("--ink-3", 0.1) },
      ...present(series, "queue").map((one) => ({ label: words[one], scale: "n", key: KEYS[one], dash: DASHES[one], write: whole, stroke: () => colour("--ink-3"), width: 1 })),
    ],
    data: (series) => [series.at, series.drain_s, ...present(series, "queue").map((one) => series.queue[one])],
    limits: (series) => (series.drain_limit_s ? [{ value: series.drain_limit_s }] : []),
    top: (series) => above(largest(series.drain_s), series.drain_limit_s),
    topRight: (series) => Math.max(10, above(Math.max(...present(series, "queue").map((one) => largest(series.queue[one])), 0))),
    tick: seconds,
  },
  wait: {
    // As shares of what each class was promised: one limit for all, none flattens the others.
    lines: (series, words) => promised(series).map((one) => ({
      label: words[one], key: KEYS[one], dash: DASHES[one], write: (x) => `${seconds(x * series.wait_limits[one])} / ${seconds(series.wait_limits[one])}`, stroke: () => colour("--ink-2"),
    })),
    data: (series) => [series.at, ...promised(series).map((one) => series.wait_p99[one].map((x) => (x === null ? null : x / series.wait_limits[one])))],
    limits: () => [{ value: 1 }],
    top: (_series, max) => above(max, 1),
    tick: (x) => `${Math.round(x * 100)} %`,
  },
  replicas: {
    whole: true,
    lines: (series, words) => [
      ...LANES.toReversed().map((lane) => ({ label: words[lane], key: lane === "serving" ? "box full" : "box", stacked: true, stepped: true, width: 1, write: whole, stroke: () => faded(model(), lane === "serving" ? 1 : 0.6), fill: () => faded(model(), { serving: 0.85, warm: 0.4, loading: 0.14, draining: 0.06 }[lane]) })),
      { label: words.target, key: "dash", stepped: true, dash: [5, 3], width: 1.5, write: whole, stroke: () => colour("--ink") },
    ],
    data: (series) => {
      let below = series.at.map(() => 0);
      const stacked = LANES.map((lane) => { below = below.map((n, i) => n + (series.lanes[lane]?.[i] ?? 0)); return below; });
      return [series.at, ...stacked.toReversed(), series.target];
    },
    limits: () => [],
    top: (series, max) => Math.max(2, Math.ceil(above(max))),
  },
};
