package app

import (
	"context"
	"os"
	"slices"

	"go.uber.org/zap"

	"appserver/platform/httpclient"
	"appserver/protocol"
)

// ModelCatalog lists models and checks providers, for commands. It does so by the code of model/list and
// model/provider/probe.
type ModelCatalog struct{ catalog catalog }

// OpenModelCatalog returns the catalog of the configuration.
func OpenModelCatalog(o *Options) (*ModelCatalog, error) {
	local, err := loadHome(o, zap.NewNop())
	if err != nil {
		return nil, err
	}
	c, err := openCatalog(local, httpclient.New(os.Getenv))
	if err != nil {
		return nil, err
	}
	return &ModelCatalog{c}, nil
}

// openCatalog returns the catalog of a home without a server. The caller closes its models.
func openCatalog(local *localHome, network *httpclient.Environment) (catalog, error) {
	m, err := openModels(local, network, &accounts{localHome: local})
	if err != nil {
		return catalog{}, err
	}
	return catalog{Live: local.config, models: m.cache, client: m.provider}, nil
}

// Close ends running requests.
func (c *ModelCatalog) Close() { c.catalog.models.Close() }

// List returns the models of model/list. It waits for the providers.
func (c *ModelCatalog) List(p *protocol.ModelListParams) ([]protocol.Model, error) {
	listed := make(chan []protocol.Model, 1)
	if err := c.catalog.Models(p, func(models []protocol.Model) { listed <- models }); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(<-listed, func(m protocol.Model) bool { return m.Hidden }), nil
}

// Probe checks a provider.
func (c *ModelCatalog) Probe(ctx context.Context, p *protocol.ModelProviderProbeParams) (
	protocol.ModelProviderProbeResponse, error,
) {
	return c.catalog.Probe(ctx, p)
}
