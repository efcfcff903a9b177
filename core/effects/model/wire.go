package model

import (
	"context"
	"net/http"

	"appserver/core"
	"appserver/core/effects/model/refusal"
)

// Wire is an API for model requests. A Client does what all of them share: the connection, its
// time limits, the events of the stream, and errors. A Wire is safe for concurrent use.
type Wire interface {
	// Path returns appended to the base URL of an endpoint.
	Path() []string
	// Send posts one request for the prompt, and leaves the answer to the Poster.
	Send(ctx context.Context, to Poster, p *core.Prompt) error
	// Demands returns the demands that the next request to a model obeys. Equal pointers mean equal demands.
	Demands(model string) *refusal.Demands
	// Learn adds the change that the refusal of a request demands. It returns no change if the next request for the
	// prompt would be the same.
	Learn(p *core.Prompt, r *refusal.Refusal) refusal.Change
	// Read starts to read an answer. emit takes its pieces.
	Read(p *core.Prompt, emit func(core.Piece)) Reading
	// Terminal returns the name of the event that ends an answer, for messages.
	Terminal() string
	// Render returns the messages and the tools of a request, as they are sent.
	Render(p *core.Prompt) (core.RenderedPrompt, error)
}

// Poster sends a request to an endpoint. It sets the URL, adds the configured headers, keeps
// the answer, and fails for any status but 2xx.
type Poster interface {
	Do(*http.Request) (*http.Response, error)
	// Endpoint returns the endpoint and the URL of the request, with its query.
	Endpoint() (e Endpoint, url string)
	// ReportsProgress reports whether the endpoint takes return_progress, as llama-server does.
	ReportsProgress() bool
	// TakesNoEffort reports whether the endpoint takes the effort none, as Ollama does. Others refuse it for most models.
	TakesNoEffort() bool
}

// Reading is an answer that is being read.
type Reading interface {
	// Add processes the data of one event.
	Add(event []byte) error
	// Done processes the end marker [DONE].
	Done()
	// Progress returns the state of the answer.
	Progress() Progress
	// Answer returns the answer. It is called once, when the answer is finished.
	Answer() (core.Answer, error)
}

// Progress is how much of an answer has come.
type Progress int

// The steps of an answer.
const (
	// Underway is an answer without its terminal event.
	Underway Progress = iota
	// Finished is an answer after which more events may follow, such as its usage.
	Finished
	// Complete is an answer that nothing of interest follows.
	Complete
)
