package core

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// legacyEvent is how the item of an event is read that stands for a completed item in files
// without item_completed.
type legacyEvent struct {
	// id is the member with the item's id.
	id   string
	read func(id string, e gjson.Result) protocol.ThreadItemVariant
}

// legacyEvents are those with an id of their own, by type.
var legacyEvents = map[string]legacyEvent{
	"exec_command_end":             {"call_id", readCommandEnd},
	"patch_apply_end":              {"call_id", readPatchEnd},
	"mcp_tool_call_end":            {"call_id", readServerCallEnd},
	"dynamic_tool_call_response":   {"call_id", readDynamicToolEnd},
	"view_image_tool_call":         {"call_id", readImageView},
	"web_search_end":               {"call_id", readWebSearchEnd},
	"image_generation_end":         {"call_id", readImageGenerationEnd},
	"collab_agent_spawn_end":       {"call_id", readCollabEnd("spawn_agent")},
	"collab_agent_interaction_end": {"call_id", readCollabEnd("send_input")},
	"collab_waiting_end":           {"call_id", readCollabEnd("wait")},
	"collab_close_end":             {"call_id", readCollabEnd("close_agent")},
	"collab_resume_end":            {"call_id", readCollabEnd("resume_agent")},
	"sub_agent_activity":           {"event_id", readSubAgent},
}

// applyLegacy adds the item of an event that has an id. The event belongs to the turn that
// it names, and to the current one if it names none.
func (l *log) applyLegacy(ordinal int64, kind string, payload json.RawMessage) {
	t := l.openTurn
	if id := peek(payload, "turn_id"); id != "" {
		at, known := l.turnAt[id]
		if !known {
			return
		}
		t = func(int64) *turnRecord { return &l.turns[at] }
	}
	r := itemRecord{Ref: l.ref(none, payload), number: none}
	r.Evict()
	l.addItem(ordinal, t(ordinal), r)
}

// readLegacy is the item of an event that has an id; nil for other events.
func readLegacy(payload json.RawMessage) protocol.ThreadItemVariant {
	e := gjson.ParseBytes(payload)
	legacy, found := legacyEvents[e.Get("type").Str]
	if !found {
		return nil
	}
	return legacy.read(e.Get(legacy.id).Str, e)
}

// legacyID is the id of the item of such an event, "" for other events.
func legacyID(payload json.RawMessage) string {
	legacy, found := legacyEvents[peek(payload, "type")]
	if !found {
		return ""
	}
	return peek(payload, legacy.id)
}

// withMember is an event as the item of an item_completed event, with other members set.
func withMembers(id string, e gjson.Result, members object) json.RawMessage {
	item := object{}
	e.ForEach(func(key, value gjson.Result) bool {
		item[key.Str] = json.RawMessage(value.Raw)
		return true
	})
	maps.Copy(item, members)
	item["id"] = id
	raw, _ := protocol.Marshal(item) // its parts are valid JSON
	return raw
}

func readCommandEnd(id string, e gjson.Result) protocol.ThreadItemVariant {
	return loadCommand(withMembers(id, e, nil))
}

func readPatchEnd(id string, e gjson.Result) protocol.ThreadItemVariant {
	status := e.Get("status").Str
	if status == "" {
		status = endStatus(e.Get("success").Bool())
	}
	return loadFileChange(withMembers(id, e, object{"status": status}))
}

func endStatus(success bool) string {
	if success {
		return "completed"
	}
	return "failed"
}

func readServerCallEnd(id string, e gjson.Result) protocol.ThreadItemVariant {
	call, result := e.Get("invocation"), e.Get("result.Ok")
	members := object{
		"server": rawOf(call.Get("server")), "tool": rawOf(call.Get("tool")), "arguments": rawOf(call.Get("arguments")),
		"readOnlyHint": rawOf(e.Get("read_only_hint")), "result": rawOf(result),
		"status": endStatus(result.Exists() && !result.Get("isError").Bool()),
	}
	if failure := e.Get("result.Err"); failure.Exists() {
		members["error"] = object{"message": failure.Str}
	}
	return loadServerCall(withMembers(id, e, members))
}

func readDynamicToolEnd(id string, e gjson.Result) protocol.ThreadItemVariant {
	return loadDynamicTool(withMembers(id, e, object{"status": endStatus(e.Get("success").Bool())}))
}

func readImageView(id string, e gjson.Result) protocol.ThreadItemVariant {
	return &protocol.ImageViewItem{ID: id, Path: pathOf(e.Get("path").Str)}
}

func readWebSearchEnd(id string, e gjson.Result) protocol.ThreadItemVariant {
	return loadSearch(id, e)
}

func readImageGenerationEnd(id string, e gjson.Result) protocol.ThreadItemVariant {
	return foreignItem("imageGeneration", id, gjson.Result{}, gjson.Result{}, imageGenerationItem(e))
}

func readSubAgent(id string, e gjson.Result) protocol.ThreadItemVariant {
	return foreignItem("subAgentActivity", id, gjson.Result{}, e.Get("occurred_at_ms"), subAgentItem(e))
}

// readCollabEnd reads the end of a call that is for other agents: their threads are the
// receivers, and it failed if one of them did.
func readCollabEnd(tool string) func(id string, e gjson.Result) protocol.ThreadItemVariant {
	return func(id string, e gjson.Result) protocol.ThreadItemVariant {
		agents := e.Get("statuses").Map()
		if receiver := either(e, "receiver_thread_id", "new_thread_id").Str; receiver != "" {
			agents = map[string]gjson.Result{receiver: e.Get("status")}
		}
		members := collabCall(e, tool, "completed")
		if tool == "spawn_agent" && len(agents) == 0 {
			members["status"] = "failed"
		}
		states := object{}
		for agent, status := range agents {
			state := agentState(status)
			if state["status"] == "errored" || state["status"] == "notFound" {
				members["status"] = "failed"
			}
			states[agent] = state
		}
		members["receiverThreadIds"], members["agentsStates"] = orEmpty(slices.Sorted(maps.Keys(agents))), states
		return foreignItem("collabAgentToolCall", id, e.Get("started_at_ms"), e.Get("completed_at_ms"), members)
	}
}
