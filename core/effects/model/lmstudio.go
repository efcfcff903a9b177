package model

import (
	"context"
	"net/http"
	"slices"

	"appserver/core"
)

// studioModels is the answer of LM Studio's /api/v0/models, which has its models in more detail than /v1/models.
type studioModels struct {
	Data []struct {
		ID           string          `json:"id"`
		Type         loose[string]   `json:"type"`
		State        loose[string]   `json:"state"`
		Max          loose[float64]  `json:"max_context_length"`
		Loaded       loose[float64]  `json:"loaded_context_length"`
		Capabilities loose[[]string] `json:"capabilities"`
	} `json:"data"`
}

// describeLMStudio adds what LM Studio knows about its models. A loaded model has the window with which it runs. LM
// Studio offers tools to all models, so a model that is not trained for them may still call some.
func (c *Client) describeLMStudio(ctx context.Context, models []core.ListedModel) {
	var studio studioModels
	if c.read(ctx, http.MethodGet, "", &studio, "api", "v0", "models") != nil {
		return
	}
	for _, s := range studio.Data[:min(len(studio.Data), maxListed)] {
		i := slices.IndexFunc(models, func(m core.ListedModel) bool { return m.ID == s.ID })
		if i < 0 || s.ID == "" {
			continue
		}
		m := &models[i]
		m.Loads = true
		if window := tokenCount(s.Max.value); window > 0 {
			m.Window = window
		}
		if window := tokenCount(s.Loaded.value); window > 0 && s.State.value == "loaded" {
			m.Window, m.Running = window, true
		}
		switch s.Type.value {
		case "llm":
			m.Modalities = []string{"text"}
		case "vlm":
			m.Modalities = []string{"text", "image"}
		case "embeddings":
			m.Wordless = true
		}
		m.Tools = slices.Contains(s.Capabilities.value, "tool_use")
	}
}
