package line

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/tidwall/gjson"

	"appserver/platform/disk"
	"appserver/protocol"
)

var (
	errPayload = disk.Cause{Text: "its payload is not JSON", Next: "nothing was written; this is a bug in the caller"}
	errNoType  = disk.Cause{Text: "it has no type", Next: "nothing was written; this is a bug in the caller"}
)

// Encode returns lines as they are stored. A line that could not be read back is an error.
func Encode(lines []protocol.RolloutLine) ([]byte, error) {
	size := 0
	for _, line := range lines {
		size += len(line.Payload) + 128
	}
	out := make([]byte, 0, size)
	for i, line := range lines {
		var err error
		if out, err = appendLine(out, line); err != nil {
			return nil, fmt.Errorf("line %d (%s): %w", i, line.Type, err)
		}
	}
	return out, nil
}

func appendLine(out []byte, line protocol.RolloutLine) ([]byte, error) {
	payload, err := compactPayload(line.Payload)
	if err != nil {
		return nil, err
	}
	if line.Type == "" {
		return nil, errNoType
	}
	out = append(out, `{"timestamp":`...)
	out = gjson.AppendJSONString(out, line.Timestamp)
	if line.Ordinal != nil {
		out = append(out, `,"ordinal":`...)
		out = strconv.AppendInt(out, *line.Ordinal, 10)
	}
	out = append(out, `,"type":`...)
	out = gjson.AppendJSONString(out, line.Type)
	out = append(out, `,"payload":`...)
	out = append(out, payload...)
	return append(out, '}', '\n'), nil
}

// compactPayload returns a payload as well-formed JSON without line breaks.
func compactPayload(payload []byte) ([]byte, error) {
	if !isJSON(payload) {
		return nil, errPayload
	}
	payload = protocol.ToWellFormed(payload)
	if bytes.IndexByte(payload, '\n') < 0 {
		return payload, nil
	}
	var out bytes.Buffer
	err := json.Compact(&out, payload)
	return out.Bytes(), err
}

// Rewrite returns the text of a line with another ordinal, type and payload. Other members are
// kept, and so is the ordinal if as has none.
func Rewrite(raw []byte, as protocol.RolloutLine) ([]byte, error) {
	payload, err := compactPayload(as.Payload)
	if err != nil {
		return nil, err
	}
	kind, err := json.Marshal(as.Type)
	if err != nil {
		return nil, err
	}
	out := append(make([]byte, 0, len(raw)+len(payload)), '{')
	scanObject(raw, 0, 0, func(name, value []byte) {
		switch stringValue(name) {
		case "ordinal":
			if as.Ordinal != nil {
				return
			}
		case "type":
			value = kind
		case "payload":
			value = payload
		}
		out = append(append(append(append(out, name...), ':'), value...), ',')
	})
	if as.Ordinal == nil {
		out[len(out)-1] = '}'
		return out, nil
	}
	out = append(out, `"ordinal":`...)
	return append(strconv.AppendInt(out, *as.Ordinal, 10), '}'), nil
}
