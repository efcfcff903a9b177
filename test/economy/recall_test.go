package economy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// maxQuestions is the number of questions that are asked in a session.
const maxQuestions = 25

// hit matches an item in the result of recall.
var hit = regexp.MustCompile(`(?m)^(r\d+) \(`)

// recall asks the questions about outputs that left the context, with the tool recall, and counts those whose
// answer is among the first three items.
func (r *replay) recall() (c counted) {
	var asked []question
	for _, q := range r.questions {
		if r.items[q.call] != "" && !r.present[q.call] {
			asked = append(asked, q)
		}
	}
	asked = everyNth(asked, (len(asked)+maxQuestions-1)/maxQuestions)
	if len(asked) == 0 {
		return c
	}
	var calls []call
	for i, q := range asked {
		calls = append(calls, call{id: fmt.Sprintf("recall%d", i), query: q.text})
	}
	r.asked = []answer{{calls: calls}, {text: "That is all."}}
	r.userTurn("Please answer some questions about the work so far.")
	byItem := map[string]string{}
	for id, item := range r.items {
		byItem[item] = r.outputTexts[id]
	}
	for i, q := range asked {
		hits := hit.FindAllStringSubmatch(r.outputTexts[calls[i].id], 3)
		c.all++
		if slices.ContainsFunc(hits, func(h []string) bool {
			return h[1] == r.items[q.call] || strings.Contains(byItem[h[1]], q.marker)
		}) {
			c.kept++
		}
	}
	return c
}

// everyNth returns every n-th element of a list.
func everyNth[T any](list []T, n int) (some []T) {
	for i := 0; i < len(list); i += n {
		some = append(some, list[i])
	}
	return some
}
