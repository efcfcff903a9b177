package recall

import (
	"context"
	"errors"
	"strings"

	"appserver/core"
	"appserver/core/pure/digest"
	"appserver/protocol"
)

// summary has a title of one line and a text. The text is empty if the span contains nothing to store.
type summary struct{ title, text string }

const (
	// localLimit is the maximum size of an extracted summary, in bytes.
	localLimit = 1500
	// modelLimit is the maximum size of a summary by a model, transcriptLimit that of its input, in
	// bytes.
	modelLimit, transcriptLimit = 2000, 24 << 10
)

// extracted returns a summary without a model: the requests, rules, decisions, files and commands
// of a span, and the end of the agent's last message.
func extracted(s core.Span) summary {
	return summary{s.Title(), digest.Extract("", s.Items, localLimit)}
}

// Streamer sends prompts to models.
type Streamer interface {
	// Stream implements engine.Model.
	Stream(ctx context.Context, p *core.Prompt, emit func(core.Piece)) (core.Answer, error)
}

const modelPrompt = `You write notes for later conversations between a user and a coding agent. You get a part of a conversation that the agent will not see again.

Write at most ten short bullets, in the language of the user, of what could matter later: facts, names, numbers, paths, commands, decisions with their reasons, rules that the user set, and what did not work. Each bullet must be understood by itself. Leave out everything else, and do not go on with the conversation.`

var errCut = errors.New("the model's summary is incomplete")

// askModel requests a summary from the model of the thread, once.
func (k *Service) askModel(ctx context.Context, e core.Remember, s core.Span) (summary, error) {
	var text strings.Builder
	answer, err := k.Models.Stream(ctx, &core.Prompt{
		Provider: e.Provider, Model: e.Model, Instructions: modelPrompt, Summarises: true,
		Items: []protocol.ResponseItem{{ResponseItemVariant: &protocol.Message{Role: protocol.RoleUser,
			Content: []protocol.ContentItem{{Type: protocol.ContentInputText,
				Text: digest.Transcript(s.Items, transcriptLimit)}}}}},
	}, func(p core.Piece) {
		switch {
		case p.Kind == core.PieceThought:
			text.Reset()
		case p.Kind == core.PieceText && text.Len() < modelLimit:
			text.WriteString(p.Text)
		}
	})
	switch {
	case err != nil:
		return summary{}, err
	case answer.Cut != "" || strings.TrimSpace(text.String()) == "":
		return summary{}, errCut
	}
	written := text.String()
	return summary{s.Title(), strings.TrimSpace(strings.ToValidUTF8(written[:min(len(written), modelLimit)], ""))}, nil
}
