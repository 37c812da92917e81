// What the page shows where one of its scripts cannot be loaded: a gateway that is stopping or at a limit refuses files too,
// and without one of its imports the script of the page does not run.
addEventListener("error", ({ target }) => {
  if (!(target instanceof HTMLScriptElement)) return;
  const show = () => {
    const badge = document.getElementById("status");
    badge.dataset.word = "gone";
    badge.querySelector(".symbol").textContent = "○";
    badge.querySelector(".word").textContent = "Not loaded";
    badge.querySelector(".sentence").textContent = "A script of this page could not be loaded.";
    document.getElementById("announcement").textContent = "Not loaded. A script of this page could not be loaded.";
    const button = document.getElementById("reconnect");
    button.textContent = "Load again";
    button.hidden = false;
    button.addEventListener("click", () => location.reload());
  };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", show); else show();
}, true);
