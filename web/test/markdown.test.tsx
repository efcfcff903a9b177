import { render } from "preact";
import { Blocks } from "../src/lib/blocks.ts";
import { Markdown } from "../src/lib/markdown.tsx";
import { equal, test } from "./check.ts";

function html(text: string): string {
	const box = document.createElement("div");
	render(<Markdown text={text} blocks={new Blocks()} />, box);
	return box.firstElementChild!.innerHTML;
}

test("Markdown becomes nodes", () => {
	equal(html("**a** *b* ~~c~~ `d`"), "<p><strong>a</strong> <em>b</em> <del>c</del> <code>d</code></p>");
	equal(html("- a\n- b"), '<ul dir="auto"><li>a</li><li>b</li></ul>');
});

test("raw HTML is shown as text", () => {
	equal(html("<script>alert(1)</script>"), "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>");
	equal(html("a <b onclick=x>b</b>"), "<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>");
});

test("only web addresses are links", () => {
	const links = (text: string) => [...html(text).matchAll(/href="([^"]*)"/g)].map((m) => m[1]);
	equal(links("[a](https://example.com) [b](javascript:alert(1)) [c](data:text/html,x) [d](//x) [e](file:///x)"), ["https://example.com"]);
	equal(links("https://example.com\u001b]8;;"), []);
	equal(links("[a](https://exa\u202emple.com)"), []);
});

test("a remote image is a link", () => {
	equal(html("![pixel](https://example.com/x.png)").includes("<img"), false);
});

test("a text that grows is parsed from its last block on", () => {
	const blocks = new Blocks();
	let text = "";
	for (let i = 0; i < 200; i++) {
		text += i % 10 === 9 ? "end.\n\n" : `word ${i} `;
		blocks.update(text);
		if (blocks.parsed > 2) throw new Error(`${blocks.parsed} blocks were parsed`);
	}
	equal(JSON.stringify(blocks.update(text)), JSON.stringify(new Blocks().update(text)));
});

test("a text that is replaced is parsed again", () => {
	const blocks = new Blocks();
	blocks.update("one\n\ntwo\n\nthree");
	equal(JSON.stringify(blocks.update("other\n\ntext")), JSON.stringify(new Blocks().update("other\n\ntext")));
});
