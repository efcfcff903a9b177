// The highlighter of code: highlight.js with an emitter that makes nodes instead of HTML.

import hljs from "highlight.js/lib/core";
import type { ComponentChildren } from "preact";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import scala from "highlight.js/lib/languages/scala";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const languages = {
	bash, c, cpp, csharp, css, diff, dockerfile, go, java, javascript, json, kotlin, lua, makefile, markdown, php,
	python, ruby, rust, scala, sql, swift, typescript, xml, yaml,
};
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);

interface Span {
	scope: string | null;
	children: (Span | string)[];
}

/** Emitter has the interface that highlight.js calls for each part of a text. */
class Emitter {
	readonly root: Span = { scope: null, children: [] };
	private stack: Span[] = [this.root];

	private get top(): Span {
		return this.stack[this.stack.length - 1]!;
	}
	addText(text: string): void {
		if (text !== "") this.top.children.push(text);
	}
	startScope(scope: string): void {
		const span: Span = { scope, children: [] };
		this.top.children.push(span);
		this.stack.push(span);
	}
	endScope(): void {
		if (this.stack.length > 1) this.stack.pop();
	}
	openNode(scope: string): void {
		this.startScope(scope);
	}
	closeNode(): void {
		this.endScope();
	}
	__addSublanguage(other: Emitter, name: string): void {
		this.top.children.push({ scope: name ? `language:${name}` : null, children: other.root.children });
	}
	finalize(): void {
		this.stack = [this.root];
	}
	toHTML(): string {
		return ""; // the tree is used instead
	}
}

hljs.configure({ __emitter: Emitter } as never);

/** highlight returns the nodes of a code, or the code if its language is unknown. */
export function highlight(text: string, language: string): ComponentChildren {
	const name = language.toLowerCase();
	if (!hljs.getLanguage(name)) return text;
	const result = hljs.highlight(text, { language: name, ignoreIllegals: true }) as unknown as { _emitter: Emitter };
	return nodes(result._emitter.root);
}

function nodes(span: Span): ComponentChildren {
	const children = span.children.map((c) => (typeof c === "string" ? c : nodes(c)));
	if (!span.scope || span.scope.startsWith("language:")) return children;
	return <span class={`hl-${span.scope.split(".")[0]}`}>{children}</span>;
}
