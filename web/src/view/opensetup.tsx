// Shows the ways to a model, which are a file of their own.

import { lazy } from "../lib/lazy.tsx";

/** Welcome is the page of a server whose provider cannot be used. */
export const Welcome = lazy(() => import("./setup.tsx").then((m) => m.Welcome));
