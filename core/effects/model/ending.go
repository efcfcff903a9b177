package model

import (
	"fmt"
	"strings"
	"unicode"
)

// Ending describes how an answer ended, and what it has.
type Ending struct {
	// Member names the member with the reason, for messages.
	Member string
	// Reason is the word of the provider, or "".
	Reason string
	// Text is set if the answer has more text than blanks. Calls is set if it has calls, Items if it has items
	// that the provider completed itself.
	Text, Calls, Items bool
}

// endKind is the meaning of a reason.
type endKind int

const (
	// endUnknown has no known meaning. An answer that ended so may not be whole. An empty one is requested again.
	endUnknown endKind = iota
	// endNormal is the end that the model chose.
	endNormal
	// endForCalls is the end that the model chose to wait for the results of its calls.
	endForCalls
	// endByLimit is a limit of the output. The same request ends in the same way.
	endByLimit
	// endByFilter is a decision about the content. The same request ends in the same way.
	endByFilter
	// endByFailure is a failure of the provider, or of the sampled tokens. The answer is requested again.
	endByFailure
	// endByWindow is a prompt that leaves no room for the answer. The context must become smaller.
	endByWindow
)

// endings has the reasons of providers in lower case, without separators. docs/providers.md has their sources.
var endings = map[string]endKind{
	"stop": endNormal, "stopsequence": endNormal, "endturn": endNormal, "eos": endNormal, "eostoken": endNormal,
	"complete": endNormal, "completed": endNormal, "done": endNormal, "end": endNormal, "finished": endNormal,

	"toolcalls": endForCalls, "toolcall": endForCalls, "tooluse": endForCalls, "functioncall": endForCalls,
	"functioncalls": endForCalls,

	"length": endByLimit, "maxtokens": endByLimit, "maxoutputtokens": endByLimit, "maxcompletiontokens": endByLimit,
	"maxnewtokens": endByLimit, "maxlength": endByLimit, "tokenlimit": endByLimit,

	"contentfilter": endByFilter, "contentfiltered": endByFilter, "safety": endByFilter, "imagesafety": endByFilter,
	"recitation": endByFilter, "imagerecitation": endByFilter, "blocklist": endByFilter, "prohibitedcontent": endByFilter,
	"imageprohibitedcontent": endByFilter, "spii": endByFilter, "language": endByFilter, "sensitive": endByFilter,
	"refusal": endByFilter, "guardrailintervened": endByFilter, "errortoxic": endByFilter, "modelarmor": endByFilter,

	"error": endByFailure, "failed": endByFailure, "networkerror": endByFailure, "servererror": endByFailure,
	"internalerror": endByFailure, "insufficientsystemresource": endByFailure, "overloaded": endByFailure,
	"abort": endByFailure, "aborted": endByFailure, "cancelled": endByFailure, "canceled": endByFailure,
	"timeout": endByFailure, "malformedfunctioncall": endByFailure, "unexpectedtoolcall": endByFailure,
	"malformedtooluse": endByFailure, "malformedmodeloutput": endByFailure,

	"modelcontextwindowexceeded": endByWindow, "contextwindowexceeded": endByWindow, "contextlengthexceeded": endByWindow,
	"contextlength": endByWindow, "maxcontextlength": endByWindow, "modellength": endByWindow, "errorlimit": endByWindow,
}

// kind returns the meaning of the reason. Google's compatible endpoint puts a prefix before some reasons, as in
// "function_call_filter: MALFORMED_FUNCTION_CALL", or details after them.
func (e Ending) kind() endKind {
	if e.Reason == "" {
		return endNormal // [DONE] alone
	}
	prefix, detail, _ := strings.Cut(e.Reason, ":")
	for _, reason := range []string{e.Reason, detail, prefix} {
		if kind, known := endings[letters(reason)]; known {
			return kind
		}
	}
	return endUnknown
}

// letters returns the letters of a word in lower case. Providers separate words by _, by - or by case.
func letters(word string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, word)
}

// Judge returns why an answer is not whole, or "". It returns an error if the answer is empty, or does not count.
func (e Ending) Judge() (cut string, err error) {
	kind := e.kind()
	switch {
	case kind == endByWindow:
		return "", &reportedError{problem{text: "the prompt leaves no room for the answer in the context window" + e.because(),
			words: []string{"context_length_exceeded"}}}
	case kind == endByFailure:
		return "", ReportedText("the provider ended the answer" + e.because())
	case !e.Text && !e.Calls && !e.Items:
		return "", e.empty(kind)
	}
	return e.cut(kind), nil
}

func (e Ending) empty(kind endKind) error {
	switch kind {
	case endByLimit:
		return &barrenError{reason: "its length limit was reached before any text; raise the limit or lower the reasoning effort"}
	case endByFilter:
		return &barrenError{reason: "its content filter stopped it" + e.because()}
	}
	return &barrenError{reason: "it has no text and no call" + e.because(), retry: true}
}

// cut returns why an answer with content is not whole, or "".
func (e Ending) cut(kind endKind) string {
	switch kind {
	case endByLimit:
		return "the provider's limit of output tokens was reached"
	case endByFilter:
		if letters(e.Reason) == "contentfilter" {
			return "the provider's content filter stopped it"
		}
		return "the provider's content filter stopped it" + e.because()
	case endForCalls:
		if !e.Calls {
			return "the provider announced calls and sent none" + e.because()
		}
	case endUnknown:
		return "the provider ended it" + e.because()
	}
	return ""
}

// maxReason bounds the word of a provider in messages, in bytes.
const maxReason = 100

// because returns the reason, for messages, or "".
func (e Ending) because() string {
	if e.Reason == "" {
		return ""
	}
	return fmt.Sprintf(" (%s %q)", e.Member, e.Reason[:min(len(e.Reason), maxReason)])
}
