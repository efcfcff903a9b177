package keeper

import (
	"context"
	"errors"
	"strings"

	"appserver/core"
	"appserver/core/digest"
	"appserver/protocol"
)

// summary is a title of one line, and a text; "" where nothing is worth one.
type summary struct{ title, text string }

const (
	// localLimit bounds a summary that no model makes, in bytes.
	localLimit = 1500
	// modelLimit bounds what a model writes, transcriptLimit what it is given, in bytes.
	modelLimit, transcriptLimit = 2000, 24 << 10
)

// extracted is a summary without a model: the requests, rules, decisions, files and commands that
// a span tells, and the end of what the agent said.
func extracted(s core.Span) summary {
	return summary{s.Title(), digest.Extract("", s.Items, localLimit)}
}

// Streamer answers prompts.
type Streamer interface {
	Stream(ctx context.Context, p *core.Prompt, emit func(core.Piece)) (core.Answer, error)
}

const modelPrompt = `You write notes for later conversations between a user and a coding agent. You are given a part of a conversation that the agent will not see any more.

Write at most ten short bullets, in the language of the user, of what could matter later: facts, names, numbers, paths, commands, decisions with their reasons, rules that the user set, and what did not work. Each bullet must be understood by itself. Leave out everything else, and do not go on with the conversation.`

var errCut = errors.New("the model's summary is not whole")

// askModel asks the model of the thread once.
func (k *Keeper) askModel(ctx context.Context, e core.Remember, s core.Span) (summary, error) {
	var text strings.Builder
	answer, err := k.Models.Stream(ctx, &core.Prompt{
		Provider: e.Provider, Model: e.Model, Instructions: modelPrompt, Summarises: true,
		Items: []protocol.ResponseItem{{ResponseItemVariant: &protocol.Message{Role: protocol.RoleUser,
			Content: []protocol.ContentItem{{Type: protocol.ContentInputText, Text: digest.Transcript(s.Items, transcriptLimit)}}}}},
	}, func(p core.Piece) {
		if p.Kind == core.PieceText && text.Len() < modelLimit {
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
