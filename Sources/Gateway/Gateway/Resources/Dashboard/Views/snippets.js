// The subscription that is shown, as commands and programs that can be pasted elsewhere. A key is never part of them.

import { hasKey } from "/assets/api.js";
import { copyText, h } from "/assets/dom.js";
import { hasCommas, parametersOf, queryOf } from "/assets/presets.js";

const shell = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The members of a subscription that `watch` has options for. */
const watchOptions = {
  upstream: "--upstream", mode: "--mode", items: "--items", fields: "--fields", dataAdapter: "--data-adapter",
};

/** Whether `watch` can show the same: it needs the names of the items and fields. */
const isWatchable = (spec) =>
  spec.items && spec.fields && !hasCommas([...spec.items, ...spec.fields])
  && Object.entries(spec).every(([name, value]) => watchOptions[name] || value === undefined);

const writers = {
  curl(spec) {
    const header = hasKey() ? `-H "Authorization: Bearer $GATEWAY_TOKEN" ` : "";
    return `curl -N ${header}${shell(`${location.origin}/v1/stream?${queryOf(spec)}`)}`;
  },

  JavaScript(spec) {
    const options = hasKey() ? ", { token: () => key }" : "";
    const members = Object.entries(spec).map(([name, value]) =>
      `  ${name}: ${JSON.stringify(Array.isArray(value) && !hasCommas(value) ? value.join(",") : value)},`);
    return `import { connect } from "${location.origin}/assets/gateway.js";\n\n`
      + `const gateway = connect("${location.origin}"${options});\n`
      + `gateway.subscribe({\n${members.join("\n")}\n}, {\n`
      + `  update({ item, ${spec.mode === "COMMAND" ? "key, command, " : ""}fields }) { `
      + `console.log(item, ${spec.mode === "COMMAND" ? "key, command, " : ""}fields); },\n`
      + `  state({ state, reason }) { console.log(state, reason ?? ""); },\n});`;
  },

  Python(spec) {
    const all = parametersOf(spec), names = new Set(all.map(([name]) => name));
    const parameters = [...names].map((name) => {
      const values = all.filter(([other]) => other === name).map(([, value]) => value);
      return `    ${JSON.stringify(name)}: ${JSON.stringify(values.length > 1 ? values : values[0])},`;
    });
    const headers = hasKey() ? `headers = {"Authorization": "Bearer " + os.environ["GATEWAY_TOKEN"]}\n` : "";
    return `# pip install httpx httpx-sse\nimport json\n${hasKey() ? "import os\n" : ""}\n`
      + `import httpx\nfrom httpx_sse import connect_sse\n\n`
      + `parameters = {\n${parameters.join("\n")}\n}\n${headers}`
      + `with httpx.Client(timeout=httpx.Timeout(10, read=60)) as client:\n`
      + `    with connect_sse(client, "GET", ${JSON.stringify(`${location.origin}/v1/stream`)}, params=parameters`
      + `${hasKey() ? ", headers=headers" : ""}) as source:\n`
      + `        for event in source.iter_sse():\n            if event.event == "update":\n`
      + `                update = json.loads(event.data)\n                print(update["item"], update["fields"])`;
  },

  watch(spec) {
    const parts = ["lightstreamer-gateway watch", "--gateway", location.origin];
    for (const [name, option] of Object.entries(watchOptions)) if (spec[name]) parts.push(option, String(spec[name]));
    const quoted = parts.map((part, index) => (index > 0 && /[^\w@%+=:,./-]/.test(part) ? shell(part) : part));
    return `${hasKey() ? 'GATEWAY_TOKEN="…" ' : ""}${quoted.join(" ")}`;
  },
};

/** A folded panel with a tab for each language. */
export function copyAs(spec) {
  const code = h("code");
  const copy = h("button", { type: "button", class: "small", onclick: () => copyText(code.textContent, copy) }, "Copy");
  const choices = Object.keys(writers).filter((name) => name !== "watch" || isWatchable(spec)).map((name) =>
    h("button", { type: "button", class: "chip", "aria-pressed": "false", onclick: () => show(name) }, name));
  function show(name) {
    code.textContent = writers[name](spec);
    for (const choice of choices) choice.setAttribute("aria-pressed", String(choice.textContent === name));
  }
  const panel = h("details", { class: "copy-as" }, h("summary", {}, "Copy as"),
    h("div", { class: "row" }, choices, copy), h("pre", { tabIndex: 0 }, code));
  panel.addEventListener("toggle", () => { if (panel.open && !code.textContent) show("curl"); });
  return panel;
}
