package transcript

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// appliedEvents change the state of a thread, or bring a numbered item.
var appliedEvents = []string{
	protocol.EventItemCompleted, protocol.EventTaskStarted, protocol.EventTaskComplete, protocol.EventTurnAborted,
	protocol.EventRolledBack, protocol.EventTokenCount, protocol.EventSettings, protocol.EventUserMessage,
	protocol.EventAgentMessage, protocol.EventAgentReasoning, eventRawReasoning, eventCompacted, eventEnteredReview,
	eventExitedReview,
}

// skippedEvents bring nothing that is shown, by reason.
var skippedEvents = map[string]string{
	"the event at the end of the call tells it": "exec_command_begin patch_apply_begin patch_apply_updated mcp_tool_call_begin " +
		"web_search_begin image_generation_begin dynamic_tool_call_request collab_agent_spawn_begin " +
		"collab_agent_interaction_begin collab_waiting_begin collab_close_begin collab_resume_begin item_started",
	"a part of an item that another event has whole": "agent_message_content_delta plan_delta reasoning_content_delta " +
		"reasoning_raw_content_delta exec_command_output_delta terminal_interaction agent_reasoning_section_break",
	"a question to a client, which no file keeps": "exec_approval_request apply_patch_approval_request request_permissions " +
		"request_user_input elicitation_request elicitation_abandoned guardian_assessment guardian_warning",
	"news for clients, which no file keeps": "error warning stream_error deprecation_notice model_reroute model_verification " +
		"safety_buffering turn_moderation_metadata auth_recovery_started auth_recovery_completed environment_connected " +
		"environment_disconnected mcp_startup_update mcp_startup_complete hook_started hook_completed session_configured " +
		"shutdown_complete plan_update turn_diff thread_queue_changed raw_response_item raw_response_completed",
	"of features that are not served": "thread_goal_updated realtime_conversation_started realtime_conversation_realtime " +
		"realtime_conversation_closed realtime_conversation_sdp realtime_conversation_list_voices_response",
}

// eventTypes returns the types of the reference implementation.
func eventTypes(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/event_types.list")
	require.NoError(t, err)
	return strings.Fields(string(text))
}

func TestEveryEventOfTheReferenceIsReadOrSkippedForAReason(t *testing.T) {
	known := append([]string{}, appliedEvents...)
	for kind := range legacyEvents {
		known = append(known, kind)
	}
	for _, kinds := range skippedEvents {
		known = append(known, strings.Fields(kinds)...)
	}
	require.ElementsMatch(t, eventTypes(t), known)
}
