package economy

import (
	"slices"

	"appserver/core/pure/history"
	"appserver/platform/excerpt"
	"appserver/protocol"
)

// whatBytes bounds the text of a call that is the subject of a finding, in bytes.
const whatBytes = 60

// what returns a short text of the call.
func (e *exchange) what() string {
	text := e.call.Input
	if !e.call.Shell {
		text = e.call.Tool + " " + text
	}
	return excerpt.Head(excerpt.Line(excerpt.Prefix(text, 4*whatBytes)), whatBytes)
}

// Candidate is an item that can be taken out.
type Candidate struct {
	Place int
	// Note is the text of its placeholder, or "" for none.
	Note string
	// Before are the tokens of the request before the item. Saves is how many fewer tokens the request has
	// without it.
	Before, Saves int64
	// Finding is the index of the finding that names it.
	Finding int
}

// Candidates returns the items of findings, in the order of the request. overhead is the cost of the parts
// of the request that are not items. With noted, placeholders have a note, which costs tokens. Items whose
// placeholder would cost as much are left out.
func Candidates(h *history.History, findings []Finding, overhead int64, noted bool) []Candidate {
	named := map[int]Candidate{}
	for i := range findings {
		f := &findings[i]
		for k, place := range f.Places {
			c := Candidate{Place: place, Finding: i, Saves: h.SentTokens(place)}
			if h.Item(place).IsOutput() {
				if noted {
					c.Note = f.note(h, k)
				}
				c.Saves -= h.Scaled(h.Count(history.PlaceholderText(c.Saves, c.Note)))
			}
			if c.Saves > 0 {
				named[place] = c
			}
		}
	}
	all := make([]Candidate, 0, len(named))
	before := overhead
	for place := range h.Shown() {
		if c, ok := named[place]; ok {
			c.Before = before
			all = append(all, c)
		}
		before += h.SentTokens(place)
	}
	return all
}

// notes say why an output can be left out, if that tells the model where its content is.
var notes = map[protocol.SuggestionReason]string{
	protocol.SuggestSupersededRead:  "read again later",
	protocol.SuggestStaleRead:       "the file was changed later",
	protocol.SuggestDuplicateOutput: "a later output has the same text",
	protocol.SuggestFailedAttempt:   "it failed, and succeeded later",
	protocol.SuggestRepeatedCommand: "it ran again later",
	protocol.SuggestDescribedImage:  "an image that was described",
}

// Prices are the facts that the price of an edit depends on.
type Prices struct {
	// Cached is the number of tokens at the begin of the next request that the provider has in its cache. It
	// is 0 if the cache is cold.
	Cached int64
	// Ratio is the price of a cached token over that of another one.
	Ratio float64
	// Write is the price of a token that is written to the cache over that of an uncached one, or 0 if writes cost
	// nothing more.
	Write float64
	// Expected is the number of further requests.
	Expected int64
}

// Leaving returns the tokens that a request reads anew if items behind a prefix of before tokens change, and
// it gets smaller by saves.
func (p *Prices) Leaving(before, saves int64) int64 { return max(p.Cached-before-saves, 0) }

// Gain returns the savings of an edit within the expected requests, in tokens at the full price.
func (p *Prices) Gain(leaving, saves int64) float64 {
	return float64(saves)*p.Ratio*float64(p.Expected) - p.Cost(leaving)
}

// Cost returns the extra cost of the next request, in tokens at the full price.
func (p *Prices) Cost(leaving int64) float64 { return float64(leaving) * p.Loss() }

// Loss returns the extra cost of a token that leaves the cache: it is read anew, and written again.
func (p *Prices) Loss() float64 { return max(p.Write, 1) - p.Ratio }

// excess returns the extra cost of the next request, compared with no edit.
func (p *Prices) excess(leaving, saves int64) float64 {
	return p.Cost(leaving) - float64(saves)*p.Ratio
}

// Choose returns the candidates from one of them on whose edit gains most, or none if no edit gains
// anything. The next request costs at most allowance more than without the edit. candidates are in the
// order of the request.
func (p *Prices) Choose(candidates []Candidate, allowance float64) (chosen []Candidate, leaving, saves int64) {
	if p.Cached == 0 {
		for _, c := range candidates {
			saves += c.Saves
		}
		return candidates, 0, saves
	}
	best, sum := 0.0, int64(0)
	from := len(candidates)
	for i, c := range slices.Backward(candidates) {
		sum += c.Saves
		behind := p.Leaving(c.Before, sum)
		if gain := p.Gain(behind, sum); gain > best && p.excess(behind, sum) <= allowance {
			best, from, leaving, saves = gain, i, behind, sum
		}
	}
	return candidates[from:], leaving, saves
}
