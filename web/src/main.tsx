// The workbench: the page that shows threads and controls their context.

import { render } from "preact";
import { watchAddress } from "./store/access.ts";
import { start } from "./store/app.ts";
import { App } from "./view/app.tsx";
import { showPanel } from "./store/panels.ts";
import { showContextEvent } from "./wire/transport.ts";

const root = document.getElementById("app")!;
root.replaceChildren(); // the text for browsers that do not come this far
render(<App />, root);
watchAddress();
void start();
window.addEventListener(showContextEvent, () => showPanel("list"));
