package chat

import (
	"appserver/core"
	"appserver/core/effects/model"
	"appserver/protocol"
)

// memberProgress asks llama-server to report how far it has read the prompt. It then also stops if the connection is
// closed while it reads.
const memberProgress = "return_progress"

// promptProgress is in chunks of llama-server before the answer. Processed includes the cached tokens.
type promptProgress struct {
	Total     float64 `json:"total"`
	Cache     float64 `json:"cache"`
	Processed float64 `json:"processed"`
	TimeMs    float64 `json:"time_ms"`
}

// progressSteps bounds the reports of one request.
const progressSteps = 100

// progressMeter passes on reports, one for each step.
type progressMeter struct{ next int64 }

// report emits a report if the prompt was read further by a step.
func (m *progressMeter) report(p *promptProgress, emit func(core.Piece)) {
	total := model.Tokens(int64(p.Total))
	if total == 0 {
		return
	}
	processed := min(model.Tokens(int64(p.Processed)), total)
	step := processed * progressSteps / total
	if step < m.next {
		return
	}
	m.next = step + 1
	emit(core.Piece{Kind: core.PieceProgress, Progress: &protocol.PromptProgress{
		TotalTokens: total, CachedTokens: min(model.Tokens(int64(p.Cache)), processed), ProcessedTokens: processed,
		TimeMs: max(int64(min(p.TimeMs, maxReportedTime)), 0),
	}})
}

// maxReportedTime bounds the time of a report, in milliseconds: a year.
const maxReportedTime = 365 * 24 * 60 * 60 * 1000
