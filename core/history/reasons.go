package history

import "appserver/protocol"

// reasonTexts has a sentence for each reason.
var reasonTexts = map[protocol.ContextReasonCode]string{
	protocol.ReasonSent:         "The next request has it.",
	protocol.ReasonSentReplaced: "The next request has it, with the text that replaced its own.",
	protocol.ReasonDeleted:      "It was deleted. An include, undo or restore brings it back.",
	protocol.ReasonTrimmed:      "It was trimmed, because it is before a trim point.",
	protocol.ReasonCompacted:    "A compaction replaced it by a summary.",
	protocol.ReasonReverted:     "Its turn was reverted.",
	protocol.ReasonUndone:       "The edit that added it is undone, or a later edit replaced it.",
	protocol.ReasonOutdated:     "A later reminder replaced it.",

	protocol.ContextReasonCode(protocol.NotSentExcluded):      "It is excluded.",
	protocol.ContextReasonCode(protocol.NotSentCallNotSent):   "It is the output of a call that is not sent.",
	protocol.ContextReasonCode(protocol.NotSentAnswerNotSent): "It is reasoning, and the answer that it belongs to is not sent.",
	protocol.ContextReasonCode(protocol.NotSentNotTakenBack):  "It is reasoning, and its provider does not take it back.",
	protocol.ContextReasonCode(protocol.NotSentReplaced): "It is encrypted reasoning with a replaced text, " +
		"and no provider takes that back.",
	protocol.ContextReasonCode(protocol.NotSentOtherModel):     "It is the reasoning of another model.",
	protocol.ContextReasonCode(protocol.NotSentOtherProvider):  "Only another provider can read it.",
	protocol.ContextReasonCode(protocol.NotSentOtherAPI):       "The API of the next request cannot carry it.",
	protocol.ContextReasonCode(protocol.NotSentCompactionSent): "An encrypted compaction is sent instead.",
	protocol.ContextReasonCode(protocol.NotSentOriginalsSent): "It came with an encrypted compaction. " +
		"The items that the compaction replaced are sent instead.",
	protocol.ContextReasonCode(protocol.NotSentUnreadable): "It has an unknown type, or cannot be decoded.",
}
