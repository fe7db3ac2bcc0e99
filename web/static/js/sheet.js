// A link marked data-sheet opens its page's sheet in a dialog; without scripts it is a page.
const dialog = document.getElementById("sheet");

async function open(address) {
  const answer = await fetch(address, { headers: { "HX-Request": "true" } });
  if (!answer.ok) return location.assign(address);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  dialog.replaceChildren(...page.body.childNodes);
  dialog.showModal();
}

// What a pin would do follows the figure while it is typed.
let asked;
addEventListener("input", (event) => {
  const address = event.target.dataset?.preview;
  if (!address || !event.target.checkValidity()) return;
  clearTimeout(asked);
  asked = setTimeout(async () => {
    const answer = await fetch(`${address}?replicas=${event.target.value}`, { headers: { "HX-Request": "true" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    dialog.querySelector(".facts-list")?.replaceWith(page.querySelector(".facts-list"));
  }, 250);
});

addEventListener("click", (event) => {
  const link = event.target.closest("a[data-sheet]");
  if (link && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    open(link.href);
  }
  if (event.target === dialog || event.target.closest("[data-close]")) {
    event.preventDefault();
    dialog.close();
  }
});
