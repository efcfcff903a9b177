import type { LanguageFn } from "./hljs.d.ts";
declare const language: LanguageFn;
export default language;
