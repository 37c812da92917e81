// The script of the SharedWorker: it reads the stream for the tabs of the scopes that they name.

import { contend } from "./gateway.js";

const scopes = new Set();
globalThis.onconnect = ({ ports: [port] }) => {
  port.onmessage = ({ data }) => {
    if (!scopes.has(data.scope)) {
      scopes.add(data.scope);
      contend(data);
    }
    port.postMessage("queued");
  };
};
