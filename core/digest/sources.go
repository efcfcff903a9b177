package digest

import "appserver/protocol"

// Kind is a list of [Facts].
type Kind int

// The kinds, in the order of the members of Facts.
const (
	FileChanged Kind = iota
	CommandRun
	Decision
	OpenQuestion
	UserConstraint
)

// Finding is a fact with the items that state it.
type Finding struct {
	Kind Kind
	Text string
	// Items are the indices of the items, ascending. A command has the items of its calls.
	Items []int
}

// Findings returns the facts, list after list, with the items that state them.
func (f Facts) Findings(items []protocol.ResponseItem) []Finding {
	type fact struct {
		kind Kind
		text string
	}
	sources := map[fact][]int{}
	for i := range items {
		for kind, list := range Of(items[i : i+1]).lists() {
			for _, text := range list {
				key := fact{Kind(kind), text}
				sources[key] = append(sources[key], i)
			}
		}
	}
	findings := []Finding{}
	for kind, list := range f.lists() {
		for _, text := range list {
			key := fact{Kind(kind), text}
			if key.kind == CommandRun { // an item alone does not have the result
				key.text = failureEnd.ReplaceAllString(text, "")
			}
			findings = append(findings, Finding{Kind(kind), text, sources[key]})
		}
	}
	return findings
}

func (f Facts) lists() [5][]string {
	return [...][]string{f.FilesChanged, f.CommandsRun, f.Decisions, f.OpenQuestions, f.UserConstraints}
}
