// The dialog for a key or token. It is kept in memory: a reload forgets it.

import { access, hasKey, setKey } from "/assets/api.js";
import { byId, setText } from "/assets/dom.js";

export function connectKeyDialog() {
  const dialog = byId("key-dialog");
  const input = byId("key-input");
  const reason = byId("key-reason");
  const button = byId("key");

  // The page asks the gateway again and again: a dialog that the user has closed stays closed until the user does something.
  let isDeclined = false;

  const open = (text) => {
    setText(reason, text);
    if (!dialog.open) dialog.showModal();
  };
  const showState = () => {
    button.setAttribute("aria-pressed", String(hasKey()));
    setText(button, hasKey() ? "Key ✓" : "Key");
    byId("key-forget").hidden = !hasKey();
  };

  button.addEventListener("click", () => open(hasKey() ? "A key is in use." : ""));
  byId("key-cancel").addEventListener("click", () => {
    isDeclined = true;
    dialog.close();
  });
  dialog.addEventListener("cancel", () => { isDeclined = true; });
  byId("reconnect").addEventListener("click", () => { isDeclined = false; });
  byId("key-forget").addEventListener("click", () => {
    dialog.close();
    setKey(null);
  });
  byId("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = input.value.trim();
    // No header can have it: the browser would send no request.
    if (/[^!-~]/.test(text)) return setText(reason, "A key or token has neither spaces nor characters beyond ASCII.");
    input.value = "";
    dialog.close();
    isDeclined = !text;
    if (text) setKey(text);
  });
  access.addEventListener("changed", () => {
    isDeclined = false;
    showState();
  });
  access.addEventListener("needed", ({ detail }) => {
    if (!isDeclined) open(detail.wasKey
      ? "The gateway does not accept this key or token: it is wrong, expired or withdrawn."
      : "This gateway requires a key or token.");
  });
  showState();
}
