package protocol

import (
	"encoding/json"
	"strings"
)

// CodexErrorInfo is the machine-readable reason of a failed turn: a word, or for
// failures of HTTP a word with the status, {"httpConnectionFailed":
// {"httpStatusCode": 401}}.
type CodexErrorInfo struct {
	Kind string
	// HTTPStatus is nil where no answer came. It is written for the kinds in
	// httpErrorKinds only.
	HTTPStatus *int
	// TurnKind is written for ErrorActiveTurnNotSteerable only.
	TurnKind string
}

// The kinds of CodexErrorInfo that this server gives.
const (
	ErrorContextWindowExceeded  = "contextWindowExceeded"
	ErrorUsageLimitExceeded     = "usageLimitExceeded"
	ErrorServerOverloaded       = "serverOverloaded"
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

var httpErrorKinds = map[string]bool{
	ErrorHTTPConnectionFailed: true, ErrorStreamConnectionFailed: true,
	ErrorStreamDisconnected: true, ErrorTooManyFailedAttempts: true,
}

type httpStatusCode struct {
	HTTPStatusCode *int `json:"httpStatusCode"`
}

// MarshalJSON writes the word, or the word with its details.
func (e CodexErrorInfo) MarshalJSON() ([]byte, error) {
	switch {
	case httpErrorKinds[e.Kind]:
		return marshal(map[string]httpStatusCode{e.Kind: {e.HTTPStatus}})
	case e.Kind == ErrorActiveTurnNotSteerable:
		return marshal(map[string]map[string]string{e.Kind: {"turnKind": e.TurnKind}})
	}
	return marshal(e.Kind)
}

// UnmarshalJSON accepts every form; unknown kinds keep their word.
func (e *CodexErrorInfo) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*e = CodexErrorInfo{}
		return json.Unmarshal(b, &e.Kind)
	}
	var obj map[string]struct {
		HTTPStatusCode *int   `json:"httpStatusCode"`
		Snake          *int   `json:"http_status_code"`
		TurnKind       string `json:"turnKind"`
	}
	if err := json.Unmarshal(b, &obj); err != nil {
		return err
	}
	for kind, v := range obj {
		*e = CodexErrorInfo{Kind: kind, HTTPStatus: v.HTTPStatusCode, TurnKind: v.TurnKind}
		if v.Snake != nil {
			e.HTTPStatus = v.Snake
		}
	}
	return nil
}

// Stored is the form rollouts keep: snake_case words.
func (e CodexErrorInfo) Stored() json.RawMessage {
	var v any = SnakeCase(e.Kind)
	if httpErrorKinds[e.Kind] {
		v = map[string]map[string]*int{SnakeCase(e.Kind): {"http_status_code": e.HTTPStatus}}
	}
	b, err := marshal(v)
	if err != nil {
		return nil
	}
	return b
}

// ErrorInfoFromStored reads what Stored wrote. Nil where there is nothing to read.
func ErrorInfoFromStored(raw json.RawMessage) *CodexErrorInfo {
	var e CodexErrorInfo
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &e) != nil {
		return nil
	}
	e.Kind = CamelCase(e.Kind)
	return &e
}

// SnakeCase is a camelCase word as rollouts write it.
func SnakeCase(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// CamelCase is a snake_case word as the wire writes it.
func CamelCase(s string) string {
	parts := strings.Split(s, "_")
	for i := 1; i < len(parts); i++ {
		if parts[i] != "" {
			parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
		}
	}
	return strings.Join(parts, "")
}
