// Tokens as colours a canvas understands: custom properties hold light-dark(), only the browser
// can say which of the two is meant now.
const probe = document.createElement("i");
probe.hidden = true;
document.body.append(probe);

export function colour(token) {
  probe.style.color = `var(${token})`;
  return getComputedStyle(probe).color;
}

export function faded(token, share) {
  probe.style.color = `color-mix(in srgb, var(${token}) ${share * 100}%, transparent)`;
  return getComputedStyle(probe).color;
}
