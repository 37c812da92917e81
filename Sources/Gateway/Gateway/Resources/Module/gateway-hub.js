import{serve as o}from"./gateway.js";globalThis.onconnect=o;
