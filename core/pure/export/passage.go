package export

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"appserver/platform/excerpt"
	"appserver/protocol"
)

// document is a conversation as passages.
type document struct {
	Title    string
	Facts    []fact
	Passages []passage
}

type fact struct{ Name, Value string }

// passage is a part of a document: a heading at the begin of a turn, or an item. Text is prose. Code
// is shown literally, in a Language.
type passage struct {
	Turn     string
	Who      string
	Text     string
	Code     string
	Language string
	Divider  string
}

// kind returns the first word of Who.
func (p passage) kind() string {
	kind, _, _ := strings.Cut(p.Who, " ")
	return strings.TrimSuffix(kind, ",")
}

// titleLimit is how much of a conversation's first words makes its title, in characters.
const titleLimit = 80

func documentOf(t *protocol.Thread) document {
	d := document{Title: titleOf(t), Facts: factsOf(t)}
	dividers := map[string]passage{}
	for _, p := range t.ContextTrimPoints {
		divider := passage{Divider: fmt.Sprintf("Earlier messages: %d taken out of the context", p.PrunedMessageCount)}
		if p.Summary != nil {
			divider.Text = clean(*p.Summary)
		}
		if p.BeforeEntryID != nil {
			dividers[*p.BeforeEntryID] = divider
		}
	}
	for i := range t.Turns {
		turn := &t.Turns[i]
		d.Passages = append(d.Passages, passage{Turn: turnTitle(i+1, turn)})
		for _, item := range turn.Items {
			d.Passages = append(d.Passages, passagesOf(item)...)
			if divider, found := dividers[item.ItemID()]; found {
				d.Passages = append(d.Passages, divider)
			}
		}
		if turn.Error != nil {
			d.Passages = append(d.Passages, passage{Who: "Error", Text: clean(turn.Error.Message)})
		}
	}
	return d
}

func titleOf(t *protocol.Thread) string {
	title := t.Preview
	if t.Name != nil {
		title = *t.Name
	}
	title, _, _ = strings.Cut(strings.TrimSpace(clean(title)), "\n")
	if title == "" {
		return "Conversation " + t.ID
	}
	return excerpt.FirstRunes(title, titleLimit)
}

func factsOf(t *protocol.Thread) []fact {
	facts := []fact{{"Thread", t.ID}, {"Folder", clean(t.Cwd)}, {"Begun", moment(t.CreatedAt)},
		{"Last written", moment(t.UpdatedAt)}}
	if t.Model != nil {
		facts = append(facts, fact{"Model", clean(*t.Model)})
	}
	if t.GitInfo != nil && t.GitInfo.Branch != nil {
		facts = append(facts, fact{"Branch", clean(*t.GitInfo.Branch)})
	}
	return facts
}

func moment(unix int64) string { return time.Unix(unix, 0).UTC().Format("2006-01-02 15:04:05 UTC") }

func turnTitle(n int, t *protocol.Turn) string {
	title := fmt.Sprintf("Turn %d", n)
	if t.StartedAt != nil {
		title += ", " + moment(*t.StartedAt)
	}
	if t.Status != protocol.TurnCompleted {
		title += ", " + string(t.Status)
	}
	return title
}

func passagesOf(item protocol.ThreadItem) []passage {
	switch v := item.ThreadItemVariant.(type) {
	case *protocol.UserMessageItem:
		return []passage{{Who: "User", Text: clean(inputText(v.Content))}}
	case *protocol.AgentMessageItem:
		return []passage{{Who: "Agent", Text: clean(v.Text)}}
	case *protocol.ReasoningItem:
		return []passage{{Who: "Reasoning", Text: clean(strings.Join(append(v.Summary, v.Content...), "\n\n"))}}
	case *protocol.PlanItem:
		return []passage{{Who: "Plan", Text: clean(v.Text)}}
	case *protocol.CommandExecutionItem:
		return []passage{commandPassage(v)}
	case *protocol.FileChangeItem:
		return changePassages(v)
	case *protocol.ImageViewItem:
		return []passage{{Who: "Image", Text: clean(v.Path)}}
	case *protocol.WebSearchItem:
		return []passage{{Who: "Web search", Text: clean(v.Query)}}
	case *protocol.ContextCompactionItem:
		return []passage{{Who: "Context", Text: "The context was compacted."}}
	case *protocol.Unknown:
		return []passage{{Who: "Other", Code: clean(string(v.Raw)), Language: "json"}}
	}
	return nil
}

func commandPassage(c *protocol.CommandExecutionItem) passage {
	p := passage{Who: "Command", Code: "$ " + clean(c.Command) + "\n", Language: "console"}
	if c.AggregatedOutput != nil {
		p.Code += clean(*c.AggregatedOutput)
	}
	switch {
	case c.Status == protocol.CommandDeclined:
		p.Who += ", declined"
	case c.ExitCode != nil && *c.ExitCode != 0:
		p.Who += fmt.Sprintf(", exit code %d", *c.ExitCode)
	}
	return p
}

func changePassages(f *protocol.FileChangeItem) (passages []passage) {
	for _, change := range f.Changes {
		passages = append(passages,
			passage{Who: "Change of " + clean(change.Path), Code: clean(change.Diff), Language: "diff"})
	}
	return passages
}

// inputText returns the user's input: the texts, and the locations of images and files.
func inputText(input []protocol.UserInput) string {
	var parts []string
	for _, in := range input {
		switch v := in.UserInputVariant.(type) {
		case *protocol.TextInput:
			parts = append(parts, v.Text)
		case *protocol.ImageInput:
			parts = append(parts, "[image]")
		case *protocol.LocalImageInput:
			parts = append(parts, "[image "+v.Path+"]")
		case *protocol.SkillInput:
			parts = append(parts, "[skill "+v.Name+"]")
		case *protocol.MentionInput:
			parts = append(parts, "[mention "+v.Name+"]")
		}
	}
	return strings.Join(parts, "\n\n")
}

// clean leaves out what could do something to a terminal or a page.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) && r != '\u2028' && r != '\u2029' && !isBidi(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// isBidi reports whether a character changes the direction of the following text.
func isBidi(r rune) bool { return r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069' }
