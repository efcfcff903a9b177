package protocol

import (
	"encoding/json"

	"github.com/tidwall/gjson"
)

// CodexErrorInfo is the machine-readable reason of a failed turn: a word, or for failures of HTTP a
// word with the status, {"httpConnectionFailed": {"httpStatusCode": 401}}.
type CodexErrorInfo struct {
	Kind string
	// HTTPStatus is nil if the provider sent no response. It is written for the kinds of HTTP failures
	// only.
	HTTPStatus *int
	// TurnKind is written for ErrorActiveTurnNotSteerable only.
	TurnKind string
	// Detail has the details of a kind that this package does not know, or nil if the kind is a word
	// alone.
	Detail json.RawMessage
}

// The kinds of CodexErrorInfo that this server gives.
const (
	ErrorContextWindowExceeded  = "contextWindowExceeded"
	ErrorUsageLimitExceeded     = "usageLimitExceeded"
	ErrorRateLimitExceeded      = "rateLimitExceeded"
	ErrorServerOverloaded       = "serverOverloaded"
	ErrorCyberPolicy            = "cyberPolicy"
	ErrorInternalServer         = "internalServerError"
	ErrorUnauthorized           = "unauthorized"
	ErrorBadRequest             = "badRequest"
	ErrorModelNotFound          = "modelNotFound"
	ErrorSandbox                = "sandboxError"
	ErrorOther                  = "other"
	ErrorHTTPConnectionFailed   = "httpConnectionFailed"
	ErrorStreamConnectionFailed = "responseStreamConnectionFailed"
	ErrorStreamDisconnected     = "responseStreamDisconnected"
	ErrorTooManyFailedAttempts  = "responseTooManyFailedAttempts"
	ErrorActiveTurnNotSteerable = "activeTurnNotSteerable"
)

// The names of the details on the wire.
const (
	httpStatusCode = "httpStatusCode"
	turnKind       = "turnKind"
)

var httpErrorKinds = map[string]bool{
	ErrorHTTPConnectionFailed: true, ErrorStreamConnectionFailed: true,
	ErrorStreamDisconnected: true, ErrorTooManyFailedAttempts: true,
}

// MarshalJSON writes the word, or {"<word>": <details>}.
func (e CodexErrorInfo) MarshalJSON() ([]byte, error) { return e.encode(asIs) }

// Stored returns the form of rollouts: the words in snake_case.
func (e CodexErrorInfo) Stored() json.RawMessage {
	b, err := e.encode(SnakeCase)
	if err != nil {
		return nil
	}
	return b
}

func asIs(word string) string { return word }

func (e CodexErrorInfo) encode(spell func(word string) string) ([]byte, error) {
	kind := spell(e.Kind)
	switch {
	case httpErrorKinds[e.Kind]:
		return marshal(map[string]map[string]*int{kind: {spell(httpStatusCode): e.HTTPStatus}})
	case e.Kind == ErrorActiveTurnNotSteerable:
		return marshal(map[string]map[string]string{kind: {spell(turnKind): e.TurnKind}})
	case e.Detail != nil:
		return marshal(map[string]json.RawMessage{kind: e.Detail})
	}
	return marshal(kind)
}

// UnmarshalJSON accepts every kind, with or without details. It keeps the details of kinds that this
// version does not know.
func (e *CodexErrorInfo) UnmarshalJSON(b []byte) error { return e.decode(b, asIs, asIs) }

// ErrorInfoFromStored decodes the result of Stored. It returns nil for empty input.
func ErrorInfoFromStored(raw json.RawMessage) *CodexErrorInfo {
	e := new(CodexErrorInfo)
	if !json.Valid(raw) || e.decode(raw, CamelCase, SnakeCase) != nil {
		return nil
	}
	return e
}

// decode reads a kind and its details. read converts the kind to the word of the wire, and spell the
// names of details.
func (e *CodexErrorInfo) decode(b []byte, read, spell func(word string) string) error {
	word, detail, err := decodeWord(b)
	if err != nil {
		return err
	}
	*e = CodexErrorInfo{Kind: read(word)}
	switch {
	case !detail.Exists():
	case httpErrorKinds[e.Kind]:
		err = decodeDetail(detail, spell(httpStatusCode), &e.HTTPStatus)
	case e.Kind == ErrorActiveTurnNotSteerable:
		err = decodeDetail(detail, spell(turnKind), &e.TurnKind)
	default:
		e.Detail = json.RawMessage(detail.Raw)
	}
	return at(word, err)
}

// decodeDetail reads one member of the details; without it *to stays as it is.
func decodeDetail(detail gjson.Result, name string, to any) error {
	members, err := objectMembers(detail)
	if value := members[name]; err == nil && value.Exists() {
		return at(name, decodeError(Unmarshal([]byte(value.Raw), to)))
	}
	return err
}
