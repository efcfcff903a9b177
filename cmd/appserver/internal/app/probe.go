package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"appserver/core"
	"appserver/core/effects/config"
	"appserver/core/effects/model"
	"appserver/core/effects/model/offline"
	"appserver/protocol"
)

const (
	// probeTime limits the time of a check with an answer of a model, which its server may load first.
	probeTime = time.Minute
	// maxProbed bounds the models in the answer of a check.
	maxProbed = 200
	// maxModelName bounds the name of a model in a check, in bytes.
	maxModelName = 256
)

// probe is a running check of a provider.
type probe struct {
	catalog
	config   *config.Config
	provider config.Provider
	client   model.Provider
	model    string // the one to check, or ""
	check    model.Check
	response protocol.ModelProviderProbeResponse
}

// Probe checks a provider, and asks a model for an answer if the params say so.
func (c catalog) Probe(ctx context.Context, p *protocol.ModelProviderProbeParams) (
	protocol.ModelProviderProbeResponse, error,
) {
	now := c.Current()
	provider, err := now.Provider(p.ModelProvider)
	if err != nil {
		return protocol.ModelProviderProbeResponse{}, err
	}
	pr := &probe{catalog: c, config: now, provider: provider, client: c.client(provider.ID),
		response: protocol.ModelProviderProbeResponse{ModelProvider: provider.ID, Name: provider.Name,
			Key: now.DescribeKey(provider), Models: []protocol.Model{}}}
	if p.Model != nil {
		if pr.model = *p.Model; pr.model == "" || len(pr.model) > maxModelName {
			return pr.response, protocol.InvalidParams("model", "`model` must have 1 to %d bytes", maxModelName)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	if pr.list(ctx) {
		pr.ask(ctx, p.Test != nil && *p.Test)
	}
	return pr.response, nil
}

// list asks the provider for its models, and reports whether one can be asked for an answer.
func (p *probe) list(ctx context.Context) bool {
	if !p.isConfigured() {
		return false
	}
	client, ok := p.client.(*model.Client)
	if !ok {
		p.response.Key.Needed = new(false)
		p.setModels(nil)
		return true
	}
	p.check = client.Check(ctx, p.keyName())
	r := &p.response
	r.BaseURL, r.Local, r.Reachable = &p.check.BaseURL, p.check.Local, p.check.Reachable
	if p.check.KeyNeeded != nil {
		r.Key.Needed = p.check.KeyNeeded
	}
	r.Key.Accepted = p.check.KeyAccepted
	switch {
	case p.check.Problem == "":
	case p.check.Listless && p.hasModel():
		p.setModels(nil)
		return true
	default:
		p.fail(p.check.Problem, p.check.Message)
		return false
	}
	p.models.Store(p.provider.ID, p.check.Models)
	p.setModels(p.check.Models)
	return true
}

// hasModel reports whether a model of the provider is known without a list. The four local servers have lists.
func (p *probe) hasModel() bool {
	return !slices.Contains(config.LocalServers(), p.provider.ID) &&
		(p.model != "" || p.config.HasModel(p.provider.ID))
}

// isConfigured reports whether requests can be sent to the provider.
func (p *probe) isConfigured() bool {
	if address := p.config.ShownAddress(p.provider); address != "" {
		p.response.BaseURL = &address
	}
	err := p.config.Ready(p.provider.ID)
	switch {
	case err != nil && p.provider.EnvKey != "" && !p.response.Key.Present && p.provider.BaseURL != "":
		p.fail(protocol.ProbeKeyMissing, fmt.Sprintf("model provider %s needs an API key, and %s is not set",
			p.provider.ID, p.provider.EnvKey))
	case err != nil:
		p.fail(protocol.ProbeConfiguration, err.Error())
	default:
		return true
	}
	return false
}

// setModels lists the models that threads can use.
func (p *probe) setModels(listed []core.ListedModel) {
	models := slices.DeleteFunc(p.config.ModelsOf(p.provider.ID, listed), func(m protocol.Model) bool { return m.Hidden })
	p.response.ModelCount = len(models)
	p.response.Models = models[:min(len(models), maxProbed)]
	for i := range p.response.Models {
		p.response.Models[i].Available, p.response.Models[i].UnavailableReason = new(true), nil
	}
}

// ask checks the model, and asks it for an answer if test is set.
func (p *probe) ask(ctx context.Context, test bool) {
	listed := p.check.Models
	name := p.model
	if name == "" {
		name = p.config.DefaultModel(p.provider.ID, listed)
		if !p.config.HasModel(p.provider.ID) && core.FindModel(listed, name) < 0 {
			name = "" // it is a model of another provider
		}
	}
	isListed := core.FindModel(listed, name) >= 0 || p.check.Listless || p.provider.ID == offline.Name
	r := &p.response
	switch {
	case name == "":
		p.fail(protocol.ProbeNoModels, fmt.Sprintf("%s at %s has no models", p.provider.Name, p.check.BaseURL))
	case !test && p.model != "" && !isListed:
		p.failModel(fmt.Sprintf("%s does not list the model %s", p.provider.Name, name), name)
	}
	if !test || name == "" {
		return
	}
	asked := model.Ask(ctx, p.client, p.provider.ID, name)
	r.Test = &protocol.ModelProviderTest{Model: name, DurationMs: asked.Duration.Milliseconds(), Tokens: asked.Usage}
	switch asked.Problem {
	case "":
		r.Test.Text = &asked.Text
		if _, isClient := p.client.(*model.Client); isClient {
			r.Reachable = new(true)
		}
		if r.Key.Present {
			r.Key.Accepted = new(true)
		} else {
			r.Key.Needed = new(false)
		}
	case protocol.ProbeModelNotFound:
		p.failModel(asked.Message, name)
	case protocol.ProbeKeyRejected:
		p.rejectKey(asked)
	default:
		p.fail(asked.Problem, asked.Message)
	}
}

// rejectKey records that the provider refused the request because of its key, or because it has none.
func (p *probe) rejectKey(asked model.Asked) {
	key := &p.response.Key
	if key.Needed = new(true); !key.Present {
		p.fail(protocol.ProbeKeyMissing, "the provider needs a key: "+asked.Message)
		return
	}
	key.Accepted = new(false)
	p.fail(protocol.ProbeKeyRejected,
		fmt.Sprintf("the provider rejects %s (%d): %s", p.keyName(), asked.Status, asked.Message))
}

// keyName names the key of requests, or returns "" without one.
func (p *probe) keyName() string {
	switch key := p.response.Key; key.Source {
	case protocol.KeyStored:
		return "the key that was typed for it"
	case protocol.KeyEnvironment:
		return "the key in " + *key.EnvKey
	case protocol.KeyConfiguration:
		return fmt.Sprintf("the key in [model_providers.%s] of the configuration", p.provider.ID)
	case protocol.KeyLogin:
		return "the login of the user"
	}
	return ""
}

func (p *probe) fail(kind, message string) {
	p.response.Problem = &protocol.ModelProviderProblem{Kind: kind, Message: message,
		Advice: protocol.OrNil(p.advice(kind))}
}

func (p *probe) failModel(message, name string) {
	advice := "choose one of the models that the provider lists"
	if get := getCommand(p.provider.ID, p.check.Software, name); get != "" {
		advice = "download it with `" + get + "`, or choose another model"
	}
	p.response.Problem = &protocol.ModelProviderProblem{Kind: protocol.ProbeModelNotFound, Message: message,
		Advice: &advice}
}

// advice returns the next action of the user, or "" if the message has it.
func (p *probe) advice(kind string) string {
	section := fmt.Sprintf("[model_providers.%s]", p.provider.ID)
	switch kind {
	case protocol.ProbeUnreachable:
		if p.provider.ID == config.ProviderOllama && p.config.OllamaHostIgnored() {
			return "set OLLAMA_HOST to HOST or HOST:PORT and restart the server: its value is no address, and was ignored"
		}
		if start := startCommands()[p.provider.ID]; start != "" && p.check.Local {
			return fmt.Sprintf("start it with `%s`, or set base_url in %s if it listens elsewhere", start, section)
		}
		if p.check.Local {
			return "start the server, or set base_url in " + section + " if it listens elsewhere"
		}
		return "check the network, and base_url in " + section
	case protocol.ProbeNoModelServer:
		if p.check.Listless && !p.check.Local {
			return "name a model, or set model in " + section + ", because the provider has no list; or check its base_url"
		}
		return fmt.Sprintf("set base_url in %s to the address of the model server, up to /v1; another program may use its port",
			section)
	case protocol.ProbeKeyMissing, protocol.ProbeKeyRejected:
		return p.keyAdvice()
	case protocol.ProbeNoModels:
		if get := getCommand(p.provider.ID, p.check.Software, "MODEL"); get != "" {
			return "download one with `" + get + "`"
		}
		return "load a model in the server, or set model in " + section
	case protocol.ProbeTimeout:
		return "try again; a local server may still load the model"
	}
	return ""
}

// keyAdvice returns the ways to another key.
func (p *probe) keyAdvice() string {
	ways := fmt.Sprintf("type a key with `appserver login --provider %s`, or with modelProvider/key/write", p.provider.ID)
	if p.config.UsesAccount(p.provider) {
		ways = "sign in with `appserver login`, or with account/login/start"
	}
	if env := p.response.Key.EnvKey; env != nil {
		ways += fmt.Sprintf(", or set %s in the environment of the server, and restart it%s", *env,
			after(". ", p.provider.EnvKeyInstructions))
	}
	return ways
}

// after returns a text behind a separator, or "" for no text.
func after(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}

// startCommands returns the commands that start model servers, by the built-in providers.
func startCommands() map[string]string {
	return map[string]string{
		config.ProviderOllama: "ollama serve", config.ProviderLMStudio: "lms server start",
		config.ProviderLlamaCpp: "llama-server -m MODEL.gguf", config.ProviderVLLM: "vllm serve MODEL",
	}
}

// getCommand returns the command that downloads a model, or "". A name that a shell would read is not put into one.
func getCommand(provider, software, name string) string {
	if strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:/@", r)
	}) || strings.HasPrefix(name, "-") {
		return ""
	}
	switch {
	case software == "Ollama", software == "" && provider == config.ProviderOllama:
		return "ollama pull " + name
	case software == "LM Studio", software == "" && provider == config.ProviderLMStudio:
		return "lms get " + name
	}
	return ""
}
