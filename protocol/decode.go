package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
	"unsafe"

	exact "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	v1 "github.com/go-json-experiment/json/v1"
)

// exactNames are the rules of encoding/json, but for names: they are case-sensitive.
var exactNames = exact.JoinOptions(v1.DefaultOptionsV1(), exact.MatchCaseInsensitiveNames(false))

// Unmarshal decodes JSON as json.Unmarshal does, but with exact names of members: "Decision" is not
// "decision". Of several members with one name, the last counts. All JSON of others is decoded by
// Unmarshal or DecodeParams.
func Unmarshal(text []byte, v any) error { return standardError(exact.Unmarshal(text, v, exactNames)) }

// UnmarshalKnown decodes JSON as Unmarshal does, but rejects members that v does not have.
func UnmarshalKnown(text []byte, v any) error {
	return standardError(exact.Unmarshal(text, v, exactNames, exact.RejectUnknownMembers(true)))
}

// standardError returns an error of a wrong type, or of syntax, as encoding/json words it.
func standardError(err error) error {
	var wrong *v1.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return &json.UnmarshalTypeError{Value: wrong.Value, Type: wrong.Type, Offset: wrong.Offset, Struct: wrong.Struct,
			Field: wrong.Field}
	}
	return err
}

// plainText returns a copy of a JSON string's text, as Unmarshal decodes it. It returns false for other values, and
// for strings whose text is not UTF-8. The value must be valid JSON.
func plainText(value []byte) (text string, ok bool) {
	if len(value) == 0 || value[0] != '"' {
		return "", false
	}
	if inner := value[1 : len(value)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), utf8.Valid(inner)
	}
	decoded, err := jsontext.AppendUnquote(nil, value)
	return unsafe.String(unsafe.SliceData(decoded), len(decoded)), err == nil
}

// RepeatsName reports whether an object in JSON, at any depth, has two members of one name.
func RepeatsName(text []byte) bool {
	return json.Valid(text) && !jsontext.Value(text).IsValid(jsontext.AllowInvalidUTF8(true))
}
