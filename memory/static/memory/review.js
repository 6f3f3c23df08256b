// One key decides the card that has the focus, one undoes. Without this the buttons do the same.
const cards = [...document.querySelectorAll(".review > li")];

function move(step) {
  const at = cards.indexOf(document.activeElement?.closest(".review > li"));
  cards[Math.min(Math.max(at + step, 0), cards.length - 1)]?.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select")) return;
  if (event.key === "j") return move(1);
  if (event.key === "k") return move(-1);
  const scope = event.key === "u" ? document.querySelector("form[data-key=u]") : document.activeElement?.closest(".review > li");
  const button = event.key === "u" ? scope?.querySelector("button") : scope?.querySelector(`button[data-key="${CSS.escape(event.key)}"]`);
  button?.click();
});

cards[0]?.focus();
