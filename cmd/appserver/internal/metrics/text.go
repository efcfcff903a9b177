package metrics

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"appserver/rollout/postgres"
)

// page writes metrics as text. All values of a metric follow each other.
type page struct {
	to io.Writer
	// last is the metric that was written last.
	last string
}

// gauge writes a value that can fall. The labels are names and values in turn.
func (p *page) gauge(name, help string, value float64, labels ...string) {
	p.begin(name, help, "gauge")
	p.value(name, value, labels)
}

// counter writes a value that only grows.
func (p *page) counter(name, help string, value int64, labels ...string) {
	p.begin(name, help, "counter")
	p.value(name, float64(value), labels)
}

func (p *page) histogram(name, help string, h postgres.Histogram) {
	p.begin(name, help, "histogram")
	for i, bound := range h.Bounds {
		p.value(name+"_bucket", float64(h.Counts[i]), []string{"le", formatFloat(bound)})
	}
	p.value(name+"_bucket", float64(h.Count), []string{"le", "+Inf"})
	p.value(name+"_sum", h.Sum, nil)
	p.value(name+"_count", float64(h.Count), nil)
}

func (p *page) begin(name, help, kind string) {
	if p.last != name {
		p.last = name
		fmt.Fprintf(p.to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	}
}

func (p *page) value(name string, value float64, labels []string) {
	var pairs []string
	for i := 0; i < len(labels); i += 2 {
		pairs = append(pairs, labels[i]+`="`+escape(labels[i+1])+`"`)
	}
	if pairs != nil {
		name += "{" + strings.Join(pairs, ",") + "}"
	}
	fmt.Fprintf(p.to, "%s %s\n", name, formatFloat(value))
}

func formatFloat(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }

// escape escapes the value of a label.
func escape(value string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value)
}
