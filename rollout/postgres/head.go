package postgres

import (
	"strings"
	"time"

	"appserver/protocol"
	"appserver/rollout/fleet"
	"appserver/rollout/listing"
)

// headRow is a head in columns. The columns are the filters of lists; body has the rest.
type headRow struct {
	listed, running       bool
	created, updated      int64
	provider, cwd, source string
	parent                *string
	folded                string
	body                  []byte
}

// headJSON is the content of head.body.
type headJSON struct {
	Meta protocol.SessionMeta `json:"meta"`
	// Context is set if the head has a turn_context. Model and Effort belong to it.
	Context bool    `json:"context,omitempty"`
	Model   string  `json:"model,omitempty"`
	Effort  *string `json:"effort,omitempty"`
	Preview string  `json:"preview,omitempty"`
	Origin  string  `json:"origin,omitempty"`
}

func encodeHead(h fleet.Head) (headRow, error) {
	s := headJSON{Meta: h.Meta, Context: h.Context != nil, Preview: h.Preview, Origin: h.Origin}
	s.Meta.BaseInstructions, s.Meta.DeveloperInstructions = nil, nil
	if s.Context {
		s.Model, s.Effort = h.Context.Model, h.Context.Effort
	}
	body, err := protocol.Marshal(s)
	row := headRow{
		listed: h.Listed, running: h.Running,
		created: fleet.Nanoseconds(h.CreatedAt), updated: fleet.Nanoseconds(h.UpdatedAt),
		provider: clean(h.Meta.ModelProvider), cwd: clean(h.Meta.Cwd), source: clean(listing.SourceWord(h.Meta.Source)),
		folded: fold(h.Preview), body: body,
	}
	if parent := listing.SpawnedBy(h.Meta.Source); parent != "" {
		parent = clean(parent)
		row.parent = &parent
	}
	return row, err
}

// headColumns are the columns that decodeHead scans.
const headColumns = "h.id::text, h.listed, h.running, " + moreColumns

// listColumns are the columns of lists. A thread without an owner does not run.
const listColumns = `h.id::text, h.listed,
	h.running AND EXISTS (SELECT FROM thread AS t WHERE t.id = h.id AND t.node IS NOT NULL), ` + moreColumns

const moreColumns = "h.archived, h.created, h.updated, h.name, h.body"

// headScan scans a head.
type headScan struct {
	head             fleet.Head
	created, updated int64
	body             []byte
}

func (s *headScan) targets(more ...any) []any {
	h := &s.head
	return append([]any{&h.ID, &h.Listed, &h.Running, &h.Archived, &s.created, &s.updated, &h.Name, &s.body}, more...)
}

func (s *headScan) decode() (fleet.Head, error) {
	var body headJSON
	if err := protocol.Unmarshal(s.body, &body); err != nil {
		return fleet.Head{}, err
	}
	h := s.head
	h.Meta, h.Preview, h.Origin = body.Meta, body.Preview, body.Origin
	h.CreatedAt, h.UpdatedAt = timeOf(s.created), timeOf(s.updated)
	if body.Context {
		h.Context = &protocol.TurnContext{Model: body.Model, Effort: body.Effort}
	}
	return h, nil
}

func timeOf(nanoseconds int64) time.Time {
	if nanoseconds == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds)
}

// clean returns a text that the database can store: valid UTF-8 without NUL.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// fold returns a text in the form in which texts are compared.
func fold(text string) string { return clean(strings.ToLower(text)) }

// contains returns the LIKE pattern for texts that contain a term.
func contains(term string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(fold(term)) + "%"
}
