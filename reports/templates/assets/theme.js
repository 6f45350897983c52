// The theme follows the system until the button is pressed, and nothing is remembered.
{
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  button.hidden = false;
  button.addEventListener("click", () => {
    const root = document.documentElement;
    const now = root.dataset.theme ?? (system.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  });
}
