// Decisions as marks on the time axis; choosing one shows its trail beside the charts.
let chosen;

async function show(id) {
  const trail = document.getElementById("trail");
  const answer = await fetch(`/decisions/${id}/trail`, { headers: { "HX-Request": "true" } });
  if (!answer.ok) return;
  const part = new DOMParser().parseFromString(await answer.text(), "text/html");
  trail.replaceChildren(...part.body.childNodes);
  trail.hidden = false;
  chosen = id;
  for (const mark of document.querySelectorAll(".decision-mark")) mark.setAttribute("aria-pressed", String(mark.dataset.id === String(id)));
}

export function placeMarks(chart, marks) {
  const over = chart.over;
  for (const mark of marks) {
    const x = chart.valToPos(mark.at, "x");
    if (x < 0 || x > over.clientWidth) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = `decision-mark ${mark.target > mark.current ? "up" : "down"}`;
    button.dataset.id = mark.id;
    button.style.left = `${x}px`;
    button.title = `${mark.current} → ${mark.target} · ${mark.code}`;
    button.setAttribute("aria-label", button.title);
    button.setAttribute("aria-pressed", String(chosen === mark.id));
    button.addEventListener("click", () => show(mark.id));
    over.append(button);
  }
}
