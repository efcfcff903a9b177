// The workbench: the page that shows threads and controls their context.

import { render } from "preact";
import { start } from "./store/app.ts";
import { App } from "./view/app.tsx";

render(<App />, document.getElementById("app")!);
void start();
