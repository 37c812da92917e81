import{serve as e}from"./gateway.js";self.onconnect=e;
