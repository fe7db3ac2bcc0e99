// Copies what the pages need from node_modules to web/static/vendor, which is not committed.
// Run `npm ci && node web/vendor.mjs`. A missing file is a fault: the list names every one.
import { copyFile, mkdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const FILES = [
  "htmx.org/dist/htmx.esm.min.js",
  "htmx.org/LICENSE",
  "uplot/dist/uPlot.esm.js",
  "uplot/dist/uPlot.min.css",
  "uplot/LICENSE",
  "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2",
  "@fontsource-variable/inter/LICENSE",
];

const root = fileURLToPath(new URL("..", import.meta.url));
const vendor = join(root, "web", "static", "vendor");

await rm(vendor, { recursive: true, force: true });
await mkdir(vendor, { recursive: true });
for (const file of FILES) {
  const owner = file.split("/")[file.startsWith("@") ? 1 : 0].replace(".org", "");
  const name = basename(file) === "LICENSE" ? `${owner}.LICENSE` : basename(file);
  await copyFile(join(root, "node_modules", file), join(vendor, name));
}
