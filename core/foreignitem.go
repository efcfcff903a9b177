package core

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// The items of this file are those that only the reference implementation makes. They are
// shown as it shows them.

// object is a JSON object that is written.
type object map[string]any

// foreignItem is an item of a type of the reference implementation's.
func foreignItem(tag, id string, started, completed gjson.Result, members object) *protocol.Unknown {
	members["type"], members["id"] = tag, id
	members["startedAtMs"], members["completedAtMs"] = integer(started), integer(completed)
	raw, err := protocol.Marshal(members)
	if err != nil {
		raw = json.RawMessage(`{}`)
	}
	return &protocol.Unknown{Tag: tag, Raw: raw}
}

// rawOf is a value as it is written, null if it is absent.
func rawOf(value gjson.Result) json.RawMessage {
	if !value.Exists() {
		return json.RawMessage("null")
	}
	return json.RawMessage(value.Raw)
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// either is the member of an object that has one of the names.
func either(in gjson.Result, names ...string) (value gjson.Result) {
	for _, name := range names {
		if value = in.Get(name); value.Exists() {
			return value
		}
	}
	return value
}

// loadForeign reads an item of an item_completed event that only the reference
// implementation makes; nil for other types.
func loadForeign(payload json.RawMessage) protocol.ThreadItemVariant {
	all := gjson.GetManyBytes(payload, "item", "started_at_ms", "completed_at_ms")
	item := all[0]
	if item.Get("type").Str == storedWebSearch || item.Get("kind").Str == "web.search" {
		return loadSearch(item.Get("id").Str, item)
	}
	tag, members := foreignMembers(item)
	if tag == "" {
		return nil
	}
	return foreignItem(tag, item.Get("id").Str, all[1], all[2], members)
}

// foreignMembers are the members of an item with the wire's names. The type Extension has
// the items of extensions, by their kind.
func foreignMembers(item gjson.Result) (tag string, members object) {
	switch kind := item.Get("type").Str; {
	case kind == "HookPrompt":
		return "hookPrompt", object{"fragments": rawOf(item.Get("fragments"))}
	case kind == "FunctionCallOutput":
		return "functionCallOutput", object{
			"name": rawOf(item.Get("name")), "namespace": rawOf(item.Get("namespace")), "output": rawOf(item.Get("output"))}
	case kind == "CollabAgentToolCall":
		return "collabAgentToolCall", collabItem(item)
	case kind == "SubAgentActivity":
		return "subAgentActivity", subAgentItem(item)
	case kind == "Sleep", item.Get("kind").Str == "clock.sleep":
		return "sleep", object{"durationMs": either(item, "durationMs", "duration_ms").Int()}
	case kind == "ImageGeneration", item.Get("kind").Str == "image_gen.generation":
		return "imageGeneration", imageGenerationItem(item)
	}
	return "", nil
}

func imageGenerationItem(in gjson.Result) object {
	members := object{
		"status": in.Get("status").Str, "failure": rawOf(in.Get("failure")),
		"revisedPrompt":         rawOf(either(in, "revisedPrompt", "revised_prompt")),
		"generationId":          rawOf(either(in, "generationId", "generation_id")),
		"transparentBackground": rawOf(either(in, "transparentBackground", "transparent_background")),
	}
	if file := either(in, "fileId", "file_id"); file.Exists() {
		members["fileId"] = file.Str
	} else {
		members["result"] = in.Get("result").Str
	}
	if path := either(in, "savedPath", "saved_path"); path.Type == gjson.String {
		members["savedPath"] = path.Str
	}
	if images := either(in, "inputImages", "input_images"); len(images.Array()) > 0 {
		members["inputImages"] = rawOf(images)
	}
	return members
}

func subAgentItem(in gjson.Result) object {
	return object{
		"kind": in.Get("kind").Str, "agentThreadId": in.Get("agent_thread_id").Str, "agentPath": in.Get("agent_path").Str,
		"model": rawOf(in.Get("model")), "reasoningEffort": rawOf(in.Get("reasoning_effort")),
	}
}

func collabItem(in gjson.Result) object {
	states := object{}
	for id, status := range in.Get("agents_states").Map() {
		states[id] = agentState(status)
	}
	members := collabCall(in, in.Get("tool").Str, in.Get("status").Str)
	members["agentsStates"] = states
	for _, id := range in.Get("receiver_thread_ids").Array() {
		members["receiverThreadIds"] = append(members["receiverThreadIds"].([]string), id.Str)
	}
	return members
}

// collabCall is a call that is for another agent, without the agents.
func collabCall(in gjson.Result, tool, status string) object {
	return object{
		"tool": protocol.CamelCase(tool), "status": protocol.CamelCase(status), "senderThreadId": in.Get("sender_thread_id").Str,
		"receiverThreadIds": []string{}, "agentsStates": object{}, "prompt": rawOf(in.Get("prompt")),
		"model": rawOf(in.Get("model")), "reasoningEffort": rawOf(in.Get("reasoning_effort")),
	}
}

// agentState is the state of an agent: a word, or an object with a word and a message.
func agentState(status gjson.Result) object {
	word, message := status.Str, gjson.Result{}
	status.ForEach(func(key, value gjson.Result) bool {
		if status.IsObject() {
			word, message = key.Str, value
		}
		return false
	})
	return object{"status": protocol.CamelCase(cmp.Or(word, "running")), "message": rawOf(message)}
}
