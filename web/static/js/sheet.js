// A link marked data-sheet opens its page's sheet in a dialog; without scripts it is a page.
const dialog = document.getElementById("sheet");

async function open(address) {
  const answer = await fetch(address, { headers: { "HX-Request": "true" } });
  if (!answer.ok) return location.assign(address);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  dialog.replaceChildren(...page.body.childNodes);
  dialog.showModal();
}

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
