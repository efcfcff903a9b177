package refusal

import (
	"fmt"
	"slices"

	"appserver/platform/pattern"
)

var (
	aboutEffort = pattern.New(`(?i)reasoning[-_. ]?effort|reasoning\.effort|\bthinking\b|\b(reasoning|think) (value|level)\b`)
	// effortNone demands the effort none. Models that reason by default demand it for tools.
	effortNone = pattern.New("(?i)(effort|thinking).{0,60}\\b(to|be|as|with|=)[ :=]*['\"`]?(none|disabled)\\b")
	// effortValues begins the list of the efforts that a model takes.
	effortValues = pattern.AnyOf(
		`(supported values|valid values|allowed values|accepted values|one of|expected|must be|should be|choose from|values are)`)
	quotedWord = pattern.New("['\"`](\\w+)['\"`]")
)

// efforts are the known efforts, the lowest first.
var efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// learnEffort changes a refused effort of reasoning to the nearest one that the provider names, or leaves it out. A
// model can demand the effort none although none was sent.
func learnEffort(r *Refusal, q *Request, d *Demands) string {
	named := r.names("reasoning_effort") || r.names("reasoning.effort")
	if !r.rejects() || !named && !r.says(aboutEffort) {
		return ""
	}
	former, changed := d.Efforts[q.Effort]
	listed := listedEfforts(r.Text)
	if r.says(effortNone) && former != "none" && len(listed) <= 1 {
		return d.setEffort(q.Effort, "none")
	}
	if q.Effort == "" || changed && former == "" {
		return ""
	}
	if len(listed) > 0 && !changed {
		if nearest := nearestEffort(q.Effort, listed); nearest != q.Effort {
			return d.setEffort(q.Effort, nearest)
		}
	}
	if !named && !refusing().MatchString(r.Text) && len(listed) == 0 {
		return "" // thinking is also a mode, which other refusals name
	}
	return d.setEffort(q.Effort, "")
}

func (d *Demands) setEffort(wanted, sent string) string {
	if d.Efforts == nil {
		d.Efforts = map[string]string{}
	}
	d.Efforts[wanted] = sent
	switch {
	case sent == "":
		return fmt.Sprintf("The model does not take the reasoning effort %q. Requests are sent without one.", wanted)
	case wanted == "":
		return fmt.Sprintf("The model demands the reasoning effort %q.", sent)
	}
	return fmt.Sprintf("The model does not take the reasoning effort %q. Requests are sent with %q.", wanted, sent)
}

// listedEfforts returns the efforts that the text says are possible.
func listedEfforts(text string) (listed []string) {
	at := effortValues().FindAllStringIndex(text, -1)
	if at == nil {
		return nil
	}
	for _, word := range quotedWord().FindAllStringSubmatch(text[at[0][1]:], 20) {
		if slices.Contains(efforts, word[1]) || word[1] == "default" {
			listed = append(listed, word[1])
		}
	}
	return listed
}

// nearestEffort returns the highest effort up to the wanted one, or the lowest that reasons. If only a default is
// possible, that is "".
func nearestEffort(wanted string, listed []string) string {
	if slices.Contains(listed, "default") {
		return ""
	}
	level := slices.Index(efforts, wanted)
	best := ""
	for _, effort := range efforts {
		if effort == "none" || !slices.Contains(listed, effort) {
			continue
		}
		if best == "" || slices.Index(efforts, effort) <= level {
			best = effort
		}
	}
	return best
}
