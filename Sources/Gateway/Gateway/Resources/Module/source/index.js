// What an application imports. `.ci/bundle-module` makes the one file gateway.js of it.

export { connect } from "./gateway.js";
export { contend } from "./hub.js";
export { GatewayError } from "./requests.js";
export { CommandTable, List, MergeTable, tableOf } from "./tables.js";
