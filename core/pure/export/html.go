package export

import (
	_ "embed"
	"fmt"
	"html"
	"strings"

	"appserver/protocol"
)

// style is the page's only style sheet.
//
//go:embed page.css
var style string

// HTML returns a thread with its turns as one page without scripts, which needs no other file.
// It is not made by html/template: a program that has it keeps every exported method, here
// 2.5 MB of them.
func HTML(t *protocol.Thread) []byte {
	d := documentOf(t)
	var b strings.Builder
	write := func(format string, texts ...any) {
		for i, text := range texts {
			texts[i] = html.EscapeString(text.(string))
		}
		fmt.Fprintf(&b, format, texts...)
	}
	write(`<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>%s</title>
<style>
`, d.Title)
	b.WriteString(style)
	write("</style>\n</head>\n<body>\n<h1>%s</h1>\n<dl>", d.Title)
	for _, f := range d.Facts {
		write("<dt>%s</dt><dd>%s</dd>", f.Name, f.Value)
	}
	write("</dl>\n")
	for _, p := range d.Passages {
		p.html(write)
	}
	write("</body>\n</html>\n")
	return []byte(b.String())
}

func (p passage) html(write func(format string, texts ...any)) {
	switch {
	case p.Turn != "":
		write("<h2>%s</h2>\n", p.Turn)
	case p.Divider != "" && p.Text != "":
		write("<hr><h3>%s</h3><p>%s</p>\n", p.Divider, p.Text)
	case p.Divider != "":
		write("<hr><h3>%s</h3>\n", p.Divider)
	case p.Code != "":
		write("<section class=\"%s\"><h3>%s</h3><pre>%s</pre></section>\n", p.kind(), p.Who, p.Code)
	default:
		write("<section class=\"%s\"><h3>%s</h3><p>%s</p></section>\n", p.kind(), p.Who, p.Text)
	}
}
