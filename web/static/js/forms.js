// Small comforts on forms: filters apply at once, text is copied, a report is printed.
addEventListener("change", (event) => {
  const form = event.target.closest("form[data-auto]");
  if (form && event.target.matches("select, input[type=checkbox]")) form.requestSubmit();
});

addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "get") return;
  for (const field of form.elements) if (field.name && !field.value) field.disabled = true; // keeps addresses short
});

addEventListener("click", async (event) => {
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    await navigator.clipboard.writeText(document.getElementById(copy.dataset.copy).textContent);
    const said = copy.querySelector("[data-done]");
    const before = said.textContent;
    said.textContent = said.dataset.done;
    setTimeout(() => { said.textContent = before; }, 1_600);
  }
  if (event.target.closest("[data-print]")) print();
});
