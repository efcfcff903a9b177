package refusal

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"appserver/core"
	"appserver/platform/pattern"
	"appserver/protocol"
)

// Refusal has the words of a provider about a request that it refused.
type Refusal struct {
	// Status is the HTTP status, that of an error within a stream, or 0 if that has none.
	Status int
	// Text is for people.
	Text string
	// Param is the member of the request that the provider names, such as tools[3].type, or "".
	Param string
	// Words are the code and the type of the error, in lower case.
	Words []string
	// Nameless is set if the calls of the answer had no names, as Ollama sends them beside a tool that is no function.
	Nameless bool
	// TooLong is set if the request was too long.
	TooLong bool
}

// rejects reports whether the status is one with which providers reject the request itself. Local servers use 500.
func (r *Refusal) rejects() bool {
	switch r.Status {
	case http.StatusBadRequest, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
		http.StatusInternalServerError, http.StatusNotImplemented:
		return !r.TooLong
	}
	return false
}

func (r *Refusal) says(words func() *regexp.Regexp) bool { return words().MatchString(r.Text) }

func (r *Refusal) hasWord(parts ...string) bool {
	return slices.ContainsFunc(r.Words, func(word string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(word, part) })
	})
}

var (
	encrypted = pattern.AnyOf(
		`encrypted[_ ]content`, `thinking.{0,40}signature`,
		`invalid .{0,10}signature.{0,20}thinking`)
	undecoded = pattern.AnyOf(
		`verif`, `decrypt`, `decod`, `pars`, `invalid`, `match`, `expired`, `belong`,
		`organi[sz]ation`, `not found`, `another`)
	unfollowed = pattern.AnyOf(
		`reasoning['"\x60]? (item )?(was )?(provided|sent|included)? ?without its required (following|preceding)`,
		`type ['"\x60]reasoning['"\x60].{0,60}without`)
)

// OfEncrypted reports whether the provider cannot read encrypted content of the request: reasoning, or a compaction. It
// came from another account or organisation, its key is gone, or the item that must follow it is missing.
func (r *Refusal) OfEncrypted() bool {
	return r.rejects() && (r.hasWord("invalid_encrypted_content", "encrypted_content") ||
		r.says(encrypted) && r.says(undecoded) || r.says(unfollowed))
}

// SendsEncrypted reports whether a prompt has encrypted content.
func SendsEncrypted(p *core.Prompt) bool {
	return slices.ContainsFunc(p.Items, func(item protocol.ResponseItem) bool {
		switch i := item.ResponseItemVariant.(type) {
		case *protocol.Reasoning:
			return i.EncryptedContent != nil
		case *protocol.Unknown:
			return strings.Contains(string(i.Raw), `"encrypted_content"`)
		}
		return false
	})
}

// OfStore reports whether the provider refuses store: false, which keeps it from storing the conversation.
func (r *Refusal) OfStore() bool { return r.rejects() && r.names("store") }

var template = pattern.AnyOf(
	`raise_exception`, `jinja`, `chat[_ ]template`, `template (error|render)`,
	`(render|appl)\w* .{0,20}template`)

// OfTemplate reports whether the chat template of a model failed. The same request would fail again.
func (r *Refusal) OfTemplate() bool { return r.says(template) }
