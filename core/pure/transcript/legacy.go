package transcript

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// legacyEvent describes an event that has a completed item, in files without item_completed events.
type legacyEvent struct {
	// id is the member with the item's id.
	id   string
	read func(id string, e gjson.Result) protocol.ThreadItemVariant
}

// legacyEvents are the events whose items have an id, by type.
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

// decodeLegacy returns the item of an event that has an id, or nil for other events.
func decodeLegacy(payload json.RawMessage) protocol.ThreadItemVariant {
	e := gjson.ParseBytes(payload)
	legacy, found := legacyEvents[e.Get("type").Str]
	if !found {
		return nil
	}
	return legacy.read(e.Get(legacy.id).Str, e)
}

// legacyID returns the id of the item of such an event, or "" for other events.
func legacyID(payload json.RawMessage) string {
	legacy, found := legacyEvents[member(payload, "type")]
	if !found {
		return ""
	}
	return member(payload, legacy.id)
}

// withMembers returns an event as the item of an item_completed event, with other members added.
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
	return decodeCommand(withMembers(id, e, nil))
}

func readPatchEnd(id string, e gjson.Result) protocol.ThreadItemVariant {
	status := e.Get("status").Str
	if status == "" {
		status = statusOf(e.Get("success").Bool())
	}
	return decodeFileChange(withMembers(id, e, object{"status": status}))
}

func statusOf(success bool) string {
	if success {
		return "completed"
	}
	return "failed"
}

func readServerCallEnd(id string, e gjson.Result) protocol.ThreadItemVariant {
	call, result := e.Get("invocation"), e.Get("result.Ok")
	members := object{
		"server": rawOrNull(
			call.Get("server"),
		), "tool": rawOrNull(call.Get("tool")), "arguments": rawOrNull(call.Get("arguments")),
		"readOnlyHint": rawOrNull(e.Get("read_only_hint")), "result": rawOrNull(result),
		"status": statusOf(result.Exists() && !result.Get("isError").Bool()),
	}
	if failure := e.Get("result.Err"); failure.Exists() {
		members["error"] = object{"message": failure.Str}
	}
	return decodeServerCall(withMembers(id, e, members))
}

func readDynamicToolEnd(id string, e gjson.Result) protocol.ThreadItemVariant {
	return decodeDynamicTool(withMembers(id, e, object{"status": statusOf(e.Get("success").Bool())}))
}

func readImageView(id string, e gjson.Result) protocol.ThreadItemVariant {
	return &protocol.ImageViewItem{ID: id, Path: pathOf(e.Get("path").Str)}
}

func readWebSearchEnd(id string, e gjson.Result) protocol.ThreadItemVariant {
	return decodeSearch(id, e)
}

func readImageGenerationEnd(id string, e gjson.Result) protocol.ThreadItemVariant {
	return newForeignItem("imageGeneration", id, gjson.Result{}, gjson.Result{}, imageGenerationItem(e))
}

func readSubAgent(id string, e gjson.Result) protocol.ThreadItemVariant {
	item := decodeAgentActivity(e)
	item.ID = id
	return timedItem("subAgentActivity", item, gjson.Result{}, e.Get("occurred_at_ms"))
}

// readCollabEnd returns the reader of the end of a call of other agents. Their threads are the
// receivers. The call failed if one of them failed.
func readCollabEnd(tool string) func(id string, e gjson.Result) protocol.ThreadItemVariant {
	return func(id string, e gjson.Result) protocol.ThreadItemVariant {
		agents := e.Get("statuses").Map()
		if receiver := firstMember(e, "receiver_thread_id", "new_thread_id").Str; receiver != "" {
			agents = map[string]gjson.Result{receiver: e.Get("status")}
		}
		item := decodeAgentCall(e)
		item.ID, item.Tool, item.Status = id, protocol.CamelCase(tool), protocol.AgentCallCompleted
		if tool == "spawn_agent" && len(agents) == 0 {
			item.Status = protocol.AgentCallFailed
		}
		for agent, stored := range agents {
			state := protocol.DecodeAgentState(stored)
			if state.Status == protocol.AgentErrored || state.Status == protocol.AgentNotFound {
				item.Status = protocol.AgentCallFailed
			}
			item.AgentsStates[agent] = state
		}
		item.ReceiverThreadIDs = orEmpty(slices.Sorted(maps.Keys(agents)))
		return timedItem("collabAgentToolCall", item, e.Get("started_at_ms"), e.Get("completed_at_ms"))
	}
}
