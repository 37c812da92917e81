import{contend as n}from"./gateway.js";const o=new Set;globalThis.onconnect=({ports:[s]})=>{s.onmessage=({data:e})=>{o.has(e.scope)||(o.add(e.scope),n(e)),s.postMessage("queued")}};
