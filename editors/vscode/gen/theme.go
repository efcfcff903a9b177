package main

import (
	"errors"
	"regexp"
)

// editorColours replace the colours of the page that the theme of the editor has, too.
// The editor also styles elements of pages, such as code.
const editorColours = `
code { color: inherit; background: none; padding: 0; }
body {
	padding: 0;
	--bg: var(--vscode-editor-background);
	--bg-soft: var(--vscode-sideBar-background, var(--vscode-editor-background));
	--bg-raised: var(--vscode-editorWidget-background, var(--vscode-editor-background));
	--text: var(--vscode-editor-foreground);
	--font: var(--vscode-font-family);
	--mono: var(--vscode-editor-font-family), monospace;
}
body.vscode-high-contrast, body.vscode-high-contrast-light {
	--line: var(--vscode-contrastBorder);
	--line-strong: var(--vscode-contrastBorder);
	--text-soft: var(--text);
}
`

var (
	lightColours = regexp.MustCompile(`(?s)^.*?\n:root \{\n\tcolor-scheme: light dark;(.*?)\n\}`)
	darkColours  = regexp.MustCompile(`(?s)@media \(prefers-color-scheme: dark\) \{\n\t:root \{(.*?)\n\t\}`)
)

// theme returns a style sheet that follows the theme of the editor. The page itself follows the system,
// which can be light while the editor is dark. The colours of the editor override those of the page, so
// the latter have no specificity. style is the style sheet of the page, with its colours.
func theme(style string) ([]byte, error) {
	light, dark := lightColours.FindStringSubmatch(style), darkColours.FindStringSubmatch(style)
	if light == nil || dark == nil {
		return nil, errors.New("the style sheet of the page has no light or no dark colours")
	}
	text := ":where(body.vscode-light, body.vscode-high-contrast-light) {\n\tcolor-scheme: light;" + light[1] + "\n}\n" +
		":where(body.vscode-dark, body.vscode-high-contrast) {\n\tcolor-scheme: dark;" + dark[1] + "\n}\n" + editorColours
	return []byte(text), nil
}
