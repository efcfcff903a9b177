package chat

import (
	"github.com/tidwall/gjson"
)

// plainLimit bounds the events that are read so, in bytes: their reader's stack grows with their
// nesting, and one that is too large ends the process.
const plainLimit = 1 << 20

// textAlone reads the events that nearly all of an answer consists of, which are a text of the
// first choice and nothing else that counts, in a third of the time that decoding takes. It is
// false of all others, and of what it does not know.
func textAlone(event []byte) (content string, plain bool) {
	plain = len(event) <= plainLimit && gjson.ValidBytes(event) &&
		members(gjson.ParseBytes(event), func(name string, v gjson.Result) bool {
			switch name {
			case "id", "object", "created", "model", "system_fingerprint", "service_tier", "provider":
				return true
			case "choices":
				return plainChoices(v, &content)
			}
			return v.Type == gjson.Null && name == "usage"
		})
	return content, plain
}

// plainChoices is true of a list of one choice with nothing but a text.
func plainChoices(list gjson.Result, content *string) bool {
	count := 0
	return list.IsArray() && every(list, func(_, choice gjson.Result) bool {
		count++
		return count == 1 && members(choice, func(name string, v gjson.Result) bool {
			switch name {
			case "index":
				return v.Raw == "0"
			case "delta":
				return plainDelta(v, content)
			case "logprobs":
				return true
			}
			return v.Type == gjson.Null && (name == "finish_reason" || name == "usage")
		})
	})
}

func plainDelta(delta gjson.Result, content *string) bool {
	return members(delta, func(name string, v gjson.Result) bool {
		switch name {
		case "role":
			return true
		case "content":
			if v.Type == gjson.String {
				*content = unquote([]byte(v.Raw))
			}
			return v.Type == gjson.String || v.Type == gjson.Null
		case "refusal", "reasoning_content", "reasoning", "tool_calls":
			return v.Type == gjson.Null
		}
		return false
	})
}

// members is true of an object of which each member is.
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
