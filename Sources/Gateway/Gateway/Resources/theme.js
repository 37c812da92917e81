// Light or dark: the preference of the system, or the choice by the button `#theme`. Runs before the page is drawn.
(() => {
  const themes = ["auto", "light", "dark"];
  const root = document.documentElement;
  const read = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const apply = (theme) => {
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
  };
  let theme = themes.includes(read()) ? read() : "auto";
  apply(theme);
  addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const show = () => {
      button.textContent = { auto: "◐", light: "☀", dark: "☾" }[theme];
      button.setAttribute("aria-label", `Theme: ${theme}`);
      button.title = `Theme: ${theme}`;
    };
    button.addEventListener("click", () => {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      apply(theme);
      try { localStorage.setItem("theme", theme); } catch { /* The choice lasts as long as the page. */ }
      show();
    });
    show();
  });
})();
