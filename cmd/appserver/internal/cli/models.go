package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/cmdline"
	"appserver/cmd/appserver/internal/termtext"
	"appserver/protocol"
)

// modelsCall is a running models command.
type modelsCall struct {
	app.Streams
	catalog    *app.ModelCatalog
	json, find bool
	provider   string
}

// models lists models, or checks a provider.
func (c commands) models() cmdline.Command {
	return cmdline.Command{Name: "models", Group: groupStart, Args: "[test PROVIDER [MODEL]]", Define: c.defineModels,
		Doc:  "list the models of a provider and of servers on this machine; models test checks one",
		Text: "models test checks a provider, and asks a model for a short answer."}
}

func (c commands) defineModels(flags *flag.FlagSet) cmdline.Run {
	call := &modelsCall{Streams: c.Streams}
	flags.BoolVar(&call.json, "json", false, "print JSON: the members of model/list, or of model/provider/probe")
	flags.BoolVar(&call.find, "find", false,
		"also list the models of servers on this machine: Ollama, LM Studio, llama-server, vLLM")
	flags.StringVar(&call.provider, "provider", "", "list the models of the provider `NAME`")
	c.options.DefineConfig(flags)
	return func(args []string) error { return call.run(c.options, args) }
}

// run runs the command with its arguments.
func (c *modelsCall) run(o *app.Options, args []string) (err error) {
	test := len(args) > 0 && args[0] == "test"
	switch {
	case test && (c.find || c.provider != ""):
		return app.UsageError{Err: errors.New("models test has no flags --find and --provider: name the provider as an argument")}
	case test && len(args) == 1:
		return app.UsageError{Err: errors.New("models test: PROVIDER is missing")}
	case test && len(args) > 3, !test && len(args) > 0:
		return app.UsageError{Err: fmt.Errorf("unexpected argument %q", args[len(args)-1])}
	}
	if c.catalog, err = app.OpenModelCatalog(o); err != nil {
		return err
	}
	defer c.catalog.Close()
	if test {
		return c.test(args[1:])
	}
	return c.list()
}

// list prints the models.
func (c *modelsCall) list() error {
	models, err := c.catalog.List(&protocol.ModelListParams{ModelProvider: protocol.OrNil(c.provider), FindLocal: &c.find})
	switch {
	case err != nil:
		return err
	case c.json:
		return writeJSON(c.Out, protocol.ModelListResponse{Data: models})
	case len(models) == 0 && c.find:
		fmt.Fprintln(c.Out, "No models found. Start a model server, for example with `ollama serve`, or set the key of a provider.")
		return nil
	case len(models) == 0:
		fmt.Fprintln(c.Out, "No models found. `appserver models --find` searches for model servers on this machine.")
		return nil
	}
	rows := [][]string{{"Provider", "Model", "Window", "Abilities", "Dollars per million", "Usable"}}
	reasons := []string{}
	for _, m := range models {
		name := m.ID
		if m.IsDefault {
			name += " *"
		}
		rows = append(rows, []string{m.ModelProvider, name, windowOf(m), abilitiesOf(m.Abilities), pricesOf(m.Prices),
			usableOf(m.Available)})
		if m.UnavailableReason != nil && len(reasons) == 0 {
			reasons = append(reasons, "\n"+termtext.Plain(*m.UnavailableReason)+"\n")
		}
	}
	_, err = io.WriteString(c.Out, padded(rows)+strings.Join(reasons, ""))
	return err
}

func windowOf(m protocol.Model) string {
	if m.ContextWindow == nil {
		return "-"
	}
	return termtext.Grouped(*m.ContextWindow)
}

func abilitiesOf(a protocol.ModelAbilities) string {
	var names []string
	for _, ability := range []struct {
		name string
		of   *protocol.ModelAbility
	}{{"tools", a.Tools}, {"images", a.Images}, {"reasoning", a.Reasoning}} {
		if ability.of != nil && ability.of.Supported {
			names = append(names, ability.name)
		}
	}
	return orDash(strings.Join(names, ", "))
}

// pricesOf returns the prices of input and output. Configured prices can be in any currency.
func pricesOf(p *protocol.ModelPrices) string {
	if p == nil || p.Input == nil || p.Output == nil {
		return "-"
	}
	price := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	text := price(*p.Input) + " in, " + price(*p.Output) + " out"
	if p.Source == protocol.ModelSourceConfiguration {
		text += " (configured)"
	}
	return text
}

func usableOf(available *bool) string {
	switch {
	case available == nil:
		return "unknown"
	case *available:
		return "yes"
	}
	return "no"
}

// test checks a provider and a model, which can be missing. It fails if they cannot be used.
func (c *modelsCall) test(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	p := protocol.ModelProviderProbeParams{ModelProvider: args[0], Test: new(true)}
	if len(args) > 1 {
		p.Model = &args[1]
	}
	r, err := c.catalog.Probe(ctx, &p)
	if err != nil {
		return err
	}
	if c.json {
		err = writeJSON(c.Out, r)
	} else {
		_, err = io.WriteString(c.Out, probeText(&r))
	}
	switch {
	case err != nil:
		return err
	case r.Problem == nil:
		return nil
	case r.Problem.Advice != nil:
		return plainError{fmt.Errorf("%s; %s", r.Problem.Message, *r.Problem.Advice)}
	}
	return plainError{errors.New(r.Problem.Message)}
}

// probeText describes what a check found, without its problem.
func probeText(r *protocol.ModelProviderProbeResponse) string {
	rows := [][]string{{"provider", r.ModelProvider}}
	add := func(name, value string) { rows = append(rows, []string{name, value}) }
	if r.BaseURL != nil {
		add("address", *r.BaseURL)
	}
	if r.Reachable != nil {
		add("reachable", yesOrNo(*r.Reachable))
	}
	add("key", keyText(r.Key))
	if r.ModelCount > 0 {
		add("models", strconv.Itoa(r.ModelCount))
	}
	if t := r.Test; t != nil {
		add("model", t.Model)
		if t.Text != nil {
			add("answer", strconv.Quote(*t.Text))
			add("time", (time.Duration(t.DurationMs) * time.Millisecond).String())
		}
		if t.Tokens != nil {
			add("tokens", fmt.Sprintf("%d in, %d out", t.Tokens.InputTokens, t.Tokens.OutputTokens))
		}
	}
	var out strings.Builder
	for line := range strings.Lines(padded(rows)) {
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return out.String()
}

func yesOrNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func keyText(k protocol.ModelProviderKey) string {
	place := map[string]string{protocol.KeyStored: "typed by you", protocol.KeyConfiguration: "from the configuration",
		protocol.KeyLogin: "the login"}[k.Source]
	if k.Source == protocol.KeyEnvironment {
		place = "from " + *k.EnvKey
	}
	switch {
	case !k.Present && k.Needed != nil && *k.Needed && k.EnvKey != nil:
		return "missing: type one with appserver login --provider, or set " + *k.EnvKey
	case !k.Present && k.Needed != nil && *k.Needed:
		return "missing"
	case !k.Present:
		return "none"
	case k.Accepted != nil && *k.Accepted:
		return "accepted, " + place
	case k.Accepted != nil:
		return "rejected, " + place
	}
	return place
}
