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
	// Items are the indices of the items, ascending. A command has the items of its calls and of the output
	// that reports its failure.
	Items []int
	// Failed is set for a command whose last run failed.
	Failed bool
}

// Findings returns the facts, list after list, with the items that state them.
func (f Facts) Findings(items []protocol.ResponseItem) []Finding {
	return (&Source{Items: items}).Findings(f)
}

// Findings returns facts of the part, list after list, with the items that state them.
func (s *Source) Findings(f Facts) []Finding {
	g := s.gathered()
	runs := map[string]*execution{}
	for _, run := range g.commands {
		runs[run.text()] = run
	}
	of := [...]notes{FileChanged: g.files, Decision: g.decisions, OpenQuestion: g.questions, UserConstraint: g.rules}
	findings := []Finding{}
	for kind, list := range f.lists() {
		for _, text := range list {
			found := Finding{Kind: Kind(kind), Text: text, Items: of[kind].items[text]}
			if run := runs[text]; run != nil && found.Kind == CommandRun {
				found.Items, found.Failed = run.items(), run.failed()
			}
			findings = append(findings, found)
		}
	}
	return findings
}

func (f Facts) lists() [5][]string {
	return [...][]string{f.FilesChanged, f.CommandsRun, f.Decisions, f.OpenQuestions, f.UserConstraints}
}
