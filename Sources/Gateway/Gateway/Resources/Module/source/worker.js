// The script of the SharedWorker: it reads the stream for the tabs of the scopes that they name.

import { serve } from "./gateway.js";

self.onconnect = serve;
