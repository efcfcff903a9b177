package chat

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// plainForm is an event without the text that it has. Most events of an answer differ in their text only, so
// they are recognised without parsing them.
type plainForm struct {
	before, after []byte // up to and from the quotes of the text; empty before the first event
}

// read returns the text of an event, if it is one with text alone.
func (f *plainForm) read(event []byte) (content string, plain bool) {
	if text, found := f.text(event); found {
		return unquote(text), true
	}
	content, at, plain := textAlone(event)
	if plain && at.Index > 0 {
		f.before = append(f.before[:0], event[:at.Index]...)
		f.after = append(f.after[:0], event[at.Index+len(at.Raw):]...)
	}
	return content, plain
}

// text returns the string that an event has in the place of the text, if all else is equal.
func (f *plainForm) text(event []byte) (quoted []byte, found bool) {
	end := len(event) - len(f.after)
	if len(f.before) == 0 || end <= len(f.before) || event[len(f.before)] != '"' ||
		!bytes.HasPrefix(event, f.before) || !bytes.HasSuffix(event, f.after) {
		return nil, false
	}
	quoted = event[len(f.before):end]
	return quoted, gjson.ValidBytes(quoted)
}

// plainLimit bounds the events that are read so, in bytes: their reader's stack grows with their
// nesting, and one that is too large ends the process.
const plainLimit = 1 << 20

// textAlone reads the events that nearly all of an answer consists of, which are a text of the
// first choice and nothing else that counts, in a third of the time that decoding takes. It is
// false of all others, and of what it does not know. at is the place of the text, if there is one.
func textAlone(event []byte) (content string, at gjson.Result, plain bool) {
	plain = len(event) <= plainLimit && gjson.ValidBytes(event) &&
		members(gjson.ParseBytes(event), func(name string, v gjson.Result) bool {
			switch name {
			case "id", "object", "created", "model", "system_fingerprint", "service_tier", "provider":
				return true
			case "choices":
				return plainChoices(v, &at)
			}
			return v.Type == gjson.Null && name == "usage"
		})
	if plain && at.Raw != "" {
		content = unquote([]byte(at.Raw))
	}
	return content, at, plain
}

// plainChoices reports whether a list has exactly one choice, with nothing but a text.
func plainChoices(list gjson.Result, at *gjson.Result) bool {
	count := 0
	return list.IsArray() && every(list, func(_, choice gjson.Result) bool {
		count++
		return count == 1 && members(choice, func(name string, v gjson.Result) bool {
			switch name {
			case "index":
				return v.Raw == "0"
			case "delta":
				return plainDelta(v, at)
			case "logprobs":
				return true
			}
			return v.Type == gjson.Null && (name == "finish_reason" || name == "usage")
		})
	})
}

func plainDelta(delta gjson.Result, at *gjson.Result) bool {
	return members(delta, func(name string, v gjson.Result) bool {
		switch name {
		case "role":
			return true
		case "content":
			if v.Type == gjson.String {
				*at = v
			}
			return v.Type == gjson.String || v.Type == gjson.Null
		case "refusal", "reasoning_content", "reasoning", "tool_calls":
			return v.Type == gjson.Null
		}
		return false
	})
}

// members reports whether a predicate holds for each member of an object.
func members(object gjson.Result, holds func(name string, v gjson.Result) bool) bool {
	return object.IsObject() && every(object, func(name, v gjson.Result) bool { return holds(name.Str, v) })
}

func every(of gjson.Result, holds func(key, v gjson.Result) bool) bool {
	all := true
	of.ForEach(func(key, v gjson.Result) bool {
		all = holds(key, v)
		return all
	})
	return all
}
