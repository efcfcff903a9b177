package config

import (
	"fmt"

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

// CachedPriceRatio returns the price of a cached input token of a model over that of another one. The
// prices of the model have precedence over the ratio of the provider.
func (c *Config) CachedPriceRatio(provider, model string) float64 {
	p := c.ModelPrices[model]
	if p.Input == nil || p.CachedInput == nil || *p.Input == 0 {
		return c.ModelProviders[provider].cachedPriceRatio()
	}
	return float64(*p.CachedInput / *p.Input)
}

// OutputPriceRatio returns the price of an output token of a model over that of an input token that is not
// cached, or nil if it is not known.
func (c *Config) OutputPriceRatio(model string) *float64 {
	p := c.ModelPrices[model]
	if p.Input == nil || p.Output == nil || *p.Input == 0 {
		return nil
	}
	return new(float64(*p.Output / *p.Input))
}

func (c *Config) checkPrices(d *decoder) {
	for _, model := range sortedKeys(c.ModelPrices) {
		p, path := c.ModelPrices[model], []string{"model_prices", model, "cached_input"}
		if p.Input != nil && p.CachedInput != nil && *p.CachedInput > *p.Input {
			d.problem(c.root.find(path...), path, "expected at most the price of input, %v, got %v", *p.Input, *p.CachedInput)
		}
	}
}
