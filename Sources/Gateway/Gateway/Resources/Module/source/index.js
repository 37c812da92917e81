// What an application and the SharedWorker import. `.ci/bundle-module` makes the one file gateway.js of it.

export { CommandTable, List, MergeTable, tableOf } from "./tables.js";
export { GatewayError } from "./requests.js";
export { connect, serve } from "./gateway.js";
