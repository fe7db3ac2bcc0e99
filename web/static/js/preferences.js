// Theme without a reload; the reader's time zone, which only the browser knows.
const YEAR = 365 * 86_400;
const root = document.documentElement;

function keep(name, value) {
  document.cookie = `${name}=${value}; max-age=${YEAR}; path=/; samesite=lax`;
}

document.getElementById("theme")?.addEventListener("click", (event) => {
  event.preventDefault();
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  keep("theme", root.dataset.theme);
  document.dispatchEvent(new CustomEvent("theme"));
});

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const known = document.cookie.match(/(?:^|; )zone=([^;]*)/)?.[1];
if (zone && known !== zone) {
  keep("zone", zone);
  if (zone !== "UTC" && !sessionStorage.getItem("zone")) {
    sessionStorage.setItem("zone", zone);
    location.reload(); // once: times were in UTC
  }
}
