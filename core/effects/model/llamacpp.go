package model

import (
	"context"
	"net/http"

	"appserver/core"
	"appserver/protocol"
)

// maxProps bounds the loaded models whose properties are read.
const maxProps = 16

// serverProps is the answer of llama-server's /props. In router mode, which has many models, it needs a model.
type serverProps struct {
	Settings struct {
		Window float64 `json:"n_ctx"`
	} `json:"default_generation_settings"`
	Role       loose[string]          `json:"role"`
	Alias      loose[string]          `json:"model_alias"`
	Modalities loose[map[string]bool] `json:"modalities"`
}

// describeLlamaCpp adds what llama-server knows about its models. A server with one model uses it for any name. In
// router mode, a model has no window until its first request.
func (c *Client) describeLlamaCpp(ctx context.Context, models []core.ListedModel) {
	var props serverProps
	err := c.readProps(ctx, "", &props)
	for i := range models {
		models[i].Running = models[i].Window > 0
		models[i].Loads = !models[i].Running
	}
	switch {
	case props.Role.value == "router":
		for i := range models[:min(len(models), maxProps)] {
			var own serverProps
			if c.readProps(ctx, models[i].ID, &own) == nil {
				own.describe(&models[i])
			}
		}
	case len(models) == 1:
		models[0].AnyName = true
		if err == nil {
			props.describe(&models[0])
		}
	}
}

// describe adds the properties to a model.
func (p *serverProps) describe(m *core.ListedModel) {
	if window := tokenCount(p.Settings.Window); window > 0 {
		m.Window, m.Running = window, true
	}
	if alias := p.Alias.value; alias != "" && alias != m.ID && len(alias) <= maxID {
		m.Aliases = append(m.Aliases, alias)
	}
	if able := p.Modalities.value; able != nil {
		m.Modalities = []string{"text"}
		for _, modality := range []struct{ own, name string }{{"vision", "image"}, {"audio", "audio"}} {
			if able[modality.own] {
				m.Modalities = append(m.Modalities, modality.name)
			}
		}
	}
}

// readProps reads the properties of a model, without loading it, or of the server.
func (c *Client) readProps(ctx context.Context, model string, to *serverProps) error {
	u, err := c.besideURL("props")
	if err != nil {
		return err
	}
	if model != "" {
		query := u.Query()
		query.Set("model", model)
		query.Set("autoload", "false")
		u.RawQuery = query.Encode()
	}
	body, err := c.ask(ctx, http.MethodGet, u, nil)
	if err != nil {
		return err
	}
	return protocol.Unmarshal(body, to)
}
