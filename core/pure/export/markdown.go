package export

import (
	"fmt"
	"strings"

	"appserver/protocol"
)

// Markdown returns a thread with its turns as a Markdown document.
func Markdown(t *protocol.Thread) []byte {
	d := documentOf(t)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", withoutNewlines(d.Title))
	b.WriteByte('\n')
	for _, f := range d.Facts {
		fmt.Fprintf(&b, "- %s: %s\n", f.Name, withoutNewlines(f.Value))
	}
	for _, p := range d.Passages {
		b.WriteByte('\n')
		p.markdown(&b)
	}
	return []byte(b.String())
}

func (p passage) markdown(b *strings.Builder) {
	switch {
	case p.Turn != "":
		fmt.Fprintf(b, "## %s\n", p.Turn)
	case p.Divider != "":
		fmt.Fprintf(b, "---\n\n*%s*\n", p.Divider)
		if p.Text != "" {
			fmt.Fprintf(b, "\n%s\n", quoted(p.Text))
		}
	case p.Code != "":
		fence := fenceFor(p.Code)
		code := strings.TrimSuffix(p.Code, "\n")
		fmt.Fprintf(b, "**%s**\n\n%s%s\n%s\n%s\n", withoutNewlines(p.Who), fence, p.Language, code, fence)
	case p.Who == "Agent":
		fmt.Fprintf(b, "**Agent**\n\n%s\n", strings.TrimSpace(p.Text))
	default:
		fmt.Fprintf(b, "**%s**\n\n%s\n", withoutNewlines(p.Who), quoted(p.Text))
	}
}

// fenceFor returns a fence that is longer than any run of backticks in the text.
func fenceFor(text string) string {
	longest, run := 2, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}

// quoted returns a text as a block quote.
func quoted(text string) string {
	return "> " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n> ")
}

// withoutNewlines replaces newlines by spaces. Other white space stays, since paths may contain it.
func withoutNewlines(text string) string { return strings.ReplaceAll(text, "\n", " ") }
