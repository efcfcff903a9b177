package transcript

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// The items of this file are made by the reference implementation only. They are shown as it shows
// them.

// object is a JSON object to encode.
type object map[string]any

// newForeignItem returns an item of a type of the reference implementation.
func newForeignItem(tag, id string, started, completed gjson.Result, members object) *protocol.Unknown {
	members["type"], members["id"] = tag, id
	members["startedAtMs"], members["completedAtMs"] = optionalInt(started), optionalInt(completed)
	raw, err := protocol.Marshal(members)
	if err != nil {
		raw = json.RawMessage(`{}`)
	}
	return &protocol.Unknown{Tag: tag, Raw: raw}
}

// timedItem returns an item with the times of its event.
func timedItem(
	tag string, item protocol.ThreadItemVariant, started, completed gjson.Result,
) protocol.ThreadItemVariant {
	members := object{}
	raw, err := protocol.Marshal(item)
	if err != nil || protocol.Unmarshal(raw, &members) != nil {
		return item // structs of protocol always encode
	}
	return newForeignItem(tag, item.ItemID(), started, completed, members)
}

// rawOrNull returns the JSON of a value, or null if it is absent.
func rawOrNull(value gjson.Result) json.RawMessage {
	if !value.Exists() {
		return json.RawMessage("null")
	}
	return json.RawMessage(value.Raw)
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// firstMember returns the first member that an object has among the names.
func firstMember(in gjson.Result, names ...string) (value gjson.Result) {
	for _, name := range names {
		if value = in.Get(name); value.Exists() {
			return value
		}
	}
	return value
}

// decodeForeign returns the item of an item_completed event that only the reference implementation
// makes, or nil for other types.
func decodeForeign(payload json.RawMessage) protocol.ThreadItemVariant {
	all := gjson.GetManyBytes(payload, "item", "started_at_ms", "completed_at_ms")
	item := all[0]
	if item.Get("type").Str == webSearchType || item.Get("kind").Str == "web.search" {
		return decodeSearch(item.Get("id").Str, item)
	}
	tag, members := foreignMembers(item)
	if tag == "" {
		return nil
	}
	return newForeignItem(tag, item.Get("id").Str, all[1], all[2], members)
}

// foreignMembers returns the members of an item with the wire's names. The type Extension has the
// items of extensions, by their kind.
func foreignMembers(item gjson.Result) (tag string, members object) {
	switch kind := item.Get("type").Str; {
	case kind == "HookPrompt":
		return "hookPrompt", object{"fragments": rawOrNull(item.Get("fragments"))}
	case kind == "FunctionCallOutput":
		return "functionCallOutput", object{
			"name": rawOrNull(
				item.Get("name"),
			), "namespace": rawOrNull(item.Get("namespace")), "output": rawOrNull(item.Get("output"))}
	case kind == "Sleep", item.Get("kind").Str == "clock.sleep":
		return "sleep", object{"durationMs": firstMember(item, "durationMs", "duration_ms").Int()}
	case kind == "ImageGeneration", item.Get("kind").Str == "image_gen.generation":
		return "imageGeneration", imageGenerationItem(item)
	}
	return "", nil
}

func imageGenerationItem(in gjson.Result) object {
	members := object{
		"status": in.Get("status").Str, "failure": rawOrNull(in.Get("failure")),
		"revisedPrompt":         rawOrNull(firstMember(in, "revisedPrompt", "revised_prompt")),
		"generationId":          rawOrNull(firstMember(in, "generationId", "generation_id")),
		"transparentBackground": rawOrNull(firstMember(in, "transparentBackground", "transparent_background")),
	}
	if file := firstMember(in, "fileId", "file_id"); file.Exists() {
		members["fileId"] = file.Str
	} else {
		members["result"] = in.Get("result").Str
	}
	if path := firstMember(in, "savedPath", "saved_path"); path.Type == gjson.String {
		members["savedPath"] = path.Str
	}
	if images := firstMember(in, "inputImages", "input_images"); len(images.Array()) > 0 {
		members["inputImages"] = rawOrNull(images)
	}
	return members
}
