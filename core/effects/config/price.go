package config

import (
	"fmt"

	"appserver/core"
	"appserver/protocol"
)

// ModelPrice has the prices of a model. A price that is not set is nil.
type ModelPrice struct {
	Input       *Price `key:"input"`
	CachedInput *Price `key:"cached_input"`
	Output      *Price `key:"output"`
}

// Price is a price for a million tokens, in any currency.
type Price float64

// maxPrice bounds a price.
const maxPrice = 1_000_000

// UnmarshalJSON reads a number that is not negative.
func (p *Price) UnmarshalJSON(b []byte) error {
	var n float64
	if err := protocol.Unmarshal(b, &n); err != nil {
		return fmt.Errorf("expected a number, the price of a million tokens")
	}
	if !(n >= 0 && n <= maxPrice) {
		return fmt.Errorf("expected a price from 0 to %d for a million tokens", maxPrice)
	}
	*p = Price(n)
	return nil
}

// CachedPriceRatio returns the price of a cached input token of a model over that of another one. The configured
// prices of the model count first, then the configured ratio of the provider, then the prices of the table, then the
// usual ratio of the address.
func (c *Config) CachedPriceRatio(provider, model string) float64 {
	return c.Reported(nil).CachedPriceRatio(provider, model)
}

// OutputPriceRatio returns the price of an output token of a model over that of an input token that is not cached, by
// the configuration or the table, or nil if it is not known.
func (c *Config) OutputPriceRatio(provider, model string) *float64 {
	return c.Reported(nil).OutputPriceRatio(provider, model)
}

// ReportedPrices are the prices of a configuration and of providers. They implement engine.Prices.
type ReportedPrices struct {
	config *Config
	of     func(provider, model string) *core.ModelPrices
}

// Reported returns prices in which what a provider reports is stronger than the table. The function returns the report
// about a model, or nil.
func (c *Config) Reported(of func(provider, model string) *core.ModelPrices) ReportedPrices {
	return ReportedPrices{c, of}
}

func (r ReportedPrices) prices(provider, model string) (core.ModelPrices, string) {
	var reported *core.ModelPrices
	if r.of != nil {
		reported = r.of(provider, model)
	}
	return r.config.pricesOf(provider, model, reported)
}

// CachedPriceRatio does the same as that of Config.
func (r ReportedPrices) CachedPriceRatio(provider, model string) float64 {
	p := r.config.ModelProviders[provider]
	prices, source := r.prices(provider, model)
	switch {
	case prices.Input == nil, prices.CachedInput == nil, *prices.Input == 0, *prices.CachedInput > *prices.Input,
		source != protocol.ModelSourceConfiguration && p.CachedPriceRatio != nil:
		return p.cachedPriceRatio()
	}
	return *prices.CachedInput / *prices.Input
}

// OutputPriceRatio does the same as that of Config.
func (r ReportedPrices) OutputPriceRatio(provider, model string) *float64 {
	prices, _ := r.prices(provider, model)
	if prices.Input == nil || prices.Output == nil || *prices.Input == 0 {
		return nil
	}
	return new(*prices.Output / *prices.Input)
}

func (c *Config) checkPrices(d *decoder) {
	for _, model := range sortedKeys(c.ModelPrices) {
		p, path := c.ModelPrices[model], []string{"model_prices", model, "cached_input"}
		if p.Input != nil && p.CachedInput != nil && *p.CachedInput > *p.Input {
			d.problem(c.root.find(path...), path, "expected at most the price of input, %v, got %v", *p.Input, *p.CachedInput)
		}
	}
}
