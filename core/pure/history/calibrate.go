package history

import (
	"math"

	"appserver/protocol"
)

// Calibrate compares our count of a request with the provider's report. If the tokenizer is exact for
// the model, the overhead causes the difference: providers write tools in a form of their own.
// Otherwise the scale of the model changes, if the difference exceeds the tolerance. A report about a cut prompt
// changes nothing.
func (h *History) Calibrate(model string, info *protocol.TokenCountInfo) {
	counted := Tokens{info.CountedInputTokens, info.CountedOtherTokens}
	reported := info.LastTokenUsage.InputTokens
	h.noteReport(model, info)
	switch {
	case counted.All <= 0 || reported <= 0 || info.CutTo > 0:
	case !info.CountedByModel:
		h.rescale(model, counted, reported)
	case reported > counted.All/2 && reported/2 < counted.All: // otherwise the report is of another request
		h.setOffset(model, reported-counted.All)
	}
}

// rescale fits the scale of a model to its reports. The offset takes the rest, so that the count equals the last
// report.
func (h *History) rescale(model string, counted Tokens, reported int64) {
	if ratio := float64(reported) / float64(counted.All); ratio < minScale || ratio > maxScale {
		return
	}
	if h.scales == nil {
		h.scales, h.fits = map[string]Scale{}, map[string]scaleFit{}
	}
	scale, known := h.scales[model]
	if !known {
		scale = unscaled()
	}
	expected := scale.exactly(counted) + float64(h.offsets[model])
	fit := h.fits[model]
	if math.Abs(expected-float64(reported)) > contradiction*float64(reported) {
		fit = scaleFit{}
	}
	fit = fit.with(counted, reported)
	h.fits[model] = fit
	if found := fit.scale(); !near(found.Latin, scale.Latin) || !near(found.Other, scale.Other) {
		scale = found
		h.scales[model] = scale
	}
	h.setOffset(model, reported-scale.Of(counted))
}

func (h *History) setOffset(model string, offset int64) {
	if h.offsets == nil {
		h.offsets = map[string]int64{}
	}
	h.offsets[model] = offset
}
