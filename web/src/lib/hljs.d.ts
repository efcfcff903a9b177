// The part of highlight.js that the page uses.
export type LanguageFn = (hljs: unknown) => object;
declare const hljs: {
	registerLanguage(name: string, language: LanguageFn): void;
	getLanguage(name: string): object | undefined;
	configure(options: object): void;
	highlight(code: string, options: { language: string; ignoreIllegals: boolean }): object;
};
export default hljs;
